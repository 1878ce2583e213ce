// What the runtime costs per operator: a chain of tiny operators, against the same arithmetic as plain loops.
//   overhead_bench [--json] [--ops N]     best of many batches, ns per operator
//   overhead_bench --runs K [--ops N]     K runs and nothing else, for instruction counters (bench/compare)

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/chain.h"

namespace {

using Clock = std::chrono::steady_clock;

// The fastest of many batches: on a shared machine the others measure the neighbours.
template <class F>
double best_ns(const F& f) {
  double best = 1e300;
  for (int batch = 0; batch < 200; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < 50; ++i) f();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 50;
    if (ns < best) best = ns;
  }
  return best;
}

// The operators of the chain as loops that the compiler sees whole, but may not merge.
template <int Width>
double arithmetic_ns(int ops) {
  alignas(64) static float a[64], b[64], c[64];
  for (float& v : c) v = 1.0009765625f;
  const int width = Width;
  return best_ns([&] {
           float *from = a, *to = b;
           for (int i = 0; i < ops; ++i) {
             if (i % 2 == 0)
               for (int k = 0; k < width; ++k) to[k] = from[k] + c[k];
             else
               for (int k = 0; k < width; ++k) to[k] = from[k] * c[k];
             asm volatile("" ::: "memory");
             std::swap(from, to);
           }
         }) /
         ops;
}

double mote_ns(int ops, int32_t width) {
  const mote::emit::FileBytes file = mote::bench::make_chain(ops, width);
  mote::bench::Ready r(file);
  if (!r.status.ok()) {
    std::fprintf(stderr, "the chain does not load: %s\n", mote::why_text(r.status.why()));
    std::exit(1);
  }
  bool ok = true;
  const double ns = best_ns([&] { ok &= r.instance.run(0).ok(); }) / ops;
  return ok ? ns : -1;
}

int count_runs(int ops, int runs) {
  const mote::emit::FileBytes file = mote::bench::make_chain(ops, 16);
  mote::bench::Ready r(file);
  for (int i = 0; i < runs && r.status.ok(); ++i) r.status = r.instance.run(0);
  return r.status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  int ops = 200, runs = -1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    else if (std::strcmp(argv[i], "--ops") == 0 && i + 1 < argc) ops = std::atoi(argv[++i]);
    else if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
    else return std::fprintf(stderr, "usage: overhead_bench [--json] [--ops N] [--runs K]\n"), 2;
  }
  if (runs >= 0) return count_runs(ops, runs);
  const int widths[] = {1, 4, 16};
  const double plain[] = {arithmetic_ns<1>(ops), arithmetic_ns<4>(ops), arithmetic_ns<16>(ops)};
  if (!json) std::printf("%d add/mul, 1 thread, ns per operator\n  width   mote   loops   overhead\n", ops);
  for (int i = 0; i < 3; ++i) {
    const double ns = mote_ns(ops, widths[i]);
    if (json)
      std::printf("{\"ops\": %d, \"width\": %d, \"ns_per_op\": %.2f, \"arithmetic_ns_per_op\": %.2f, \"overhead_ns_per_op\": %.2f}\n", ops,
                  widths[i], ns, plain[i], ns - plain[i]);
    else std::printf("  %5d %6.1f %7.1f %10.1f\n", widths[i], ns, plain[i], ns - plain[i]);
  }
  return 0;
}
