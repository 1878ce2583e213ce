// What loading costs: opening and verifying a program of 200 operators, and creating an instance of it.
//   load_bench [--json] [--ops N]         microseconds, best and median
//   load_bench --runs K [--ops N]         K opens and nothing else, for instruction counters (bench/compare)

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/chain.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  double best, median;
};

template <class F>
Times measure_us(const F& f) {
  std::vector<double> us;
  for (int i = 0; i < 2000; ++i) {
    const auto start = Clock::now();
    f();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(us.begin(), us.end());
  return {us.front(), us[us.size() / 2]};
}

mote::Status open(const mote::emit::FileBytes& file) {
  mote::Program p;
  mote::ProgramSource source;
  source.file = file.span();
  return mote::Program::open(source, mote::emit::builtin_registry(), &p);
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  int ops = 200, runs = -1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    else if (std::strcmp(argv[i], "--ops") == 0 && i + 1 < argc) ops = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
    else return std::fprintf(stderr, "usage: load_bench [--json] [--ops N] [--runs K]\n"), 2;
  }
  const mote::emit::FileBytes file = mote::bench::make_chain(ops, 16);
  mote::Status status = mote::Status::kOk;
  if (runs >= 0) {
    for (int i = 0; i < runs && status.ok(); ++i) status = open(file);
    return status.ok() ? 0 : 1;
  }
  const Times verified = measure_us([&] { status = open(file); });
  if (!status.ok()) return 1;
  const Times ready = measure_us([&] { mote::bench::Ready r(file); });
  const uint32_t table = mote::table_bytes(file.data());
  if (json)
    std::printf(
        "{\"ops\": %d, \"table_bytes\": %u, \"open_us\": %.1f, \"open_median_us\": %.1f, \"ready_us\": %.1f, \"ready_median_us\": %.1f}\n",
        ops, table, verified.best, verified.median, ready.best, ready.median);
  else
    std::printf(
        "%d operators, table of %u bytes\n  open and verify       best %6.1f us, median %6.1f us\n  ... and an instance   best %6.1f us, "
        "median %6.1f us\n",
        ops, table, verified.best, verified.median, ready.best, ready.median);
  return 0;
}
