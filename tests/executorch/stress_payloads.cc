// Mutated payloads of the XNNPACK delegate through the whole compiler, in any sanitizer build.
//   stress_payloads EXECUTIONS SEED FILE...     FILE: payload.h says how they are made
//   stress_payloads --one N SEED FILE...        execution N alone
// Each execution is told by its number, the seed and the files alone. The first ones are the files as they are. One that takes more than
// 10 s is a hang; more memory than the limit below is a finding too.

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/driver/run.h"
#include "tests/executorch/payload.h"
#include "tests/fuzz_models/mutate_model.h"

namespace {

using namespace mote;

constexpr int kHangSeconds = 10;
constexpr long kMostMemoryMb = 2048;

struct Counts {
  uint64_t executions = 0, imported = 0, compiled = 0, ran = 0;
};

[[noreturn]] void broken(uint64_t number, const std::string& why) {
  std::fprintf(stderr, "stress_payloads: execution %llu: %s\n", static_cast<unsigned long long>(number), why.c_str());
  std::abort();
}

void set_timer(int seconds) {
  itimerval t{};
  t.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &t, nullptr);
}

// The tables most of the time, the header and the constants too.
void mutate(frontends::executorch::PayloadParts& parts, fuzz::Dice& dice) {
  fuzz::ModelBytes bytes(parts.payload.data, parts.payload.data + parts.payload.size);
  if (dice.chance(80)) {
    fuzz::mutate_flatbuffer(bytes, dice);
  } else {
    fuzz::mutate_bytes(bytes, dice);
  }
  parts.payload = ir::Bytes::own(std::move(bytes));
  if (!parts.named.empty() && dice.chance(5)) parts.named.erase(parts.named.begin());
}

void execute(uint64_t number, const frontends::executorch::PayloadParts& parts, bool run, Counts* counts, bool tell) {
  driver::CompileOptions options;
  options.suggest_sizes = false;
  options.golden.count = 0;
  driver::CompileResult result;
  ir::Problems problems;
  bool imported = false;
  options.progress = [&](const std::string& stage, double) { imported |= stage == "passes"; };
  const bool compiled = driver::compile(frontends::executorch::source_of_payload(parts), options, &result, &problems);
  ++counts->executions;
  counts->imported += imported;
  counts->compiled += compiled;
  if (!compiled && problems.empty()) broken(number, "compiling failed and nobody said why");
  for (const ir::Problem& p : problems) {
    if (tell) std::printf("%s: %s\n", p.where.c_str(), p.what.c_str());
    if (p.advice.find("this is a defect of Mote") != std::string::npos && p.where != "check") broken(number, p.where + ": " + p.what);
  }
  if (!compiled || !run) return;
  driver::HostProgram program;
  std::string error;
  if (!program.open(result.file.span(), {}, {}, &error)) return;
  ++counts->ran;
}

std::vector<frontends::executorch::PayloadParts> read_all(int count, char** paths) {
  std::vector<frontends::executorch::PayloadParts> all;
  for (int i = 0; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    frontends::executorch::PayloadParts parts;
    if (frontends::executorch::read_payload_file(ir::Bytes::own(std::move(bytes)), &parts)) all.push_back(std::move(parts));
    else std::fprintf(stderr, "stress_payloads: %s is no payload file\n", paths[i]);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const bool single = argc > 1 && std::strcmp(argv[1], "--one") == 0;
  if (single) ++argv, --argc;
  if (argc < 4) {
    std::fprintf(stderr, "usage: stress_payloads EXECUTIONS SEED FILE...\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[1], nullptr, 10), seed = std::strtoull(argv[2], nullptr, 10);
  const auto files = read_all(argc - 3, argv + 3);
  if (files.size() != static_cast<size_t>(argc - 3)) return 2;
  Counts counts;
  for (uint64_t i = single ? count : 0; i < count + (single ? 1 : 0); ++i) {
    fuzz::Dice dice((seed << 40) + i);
    auto parts = files[i < files.size() ? static_cast<size_t>(i) : dice.raw() % files.size()];
    if (i >= files.size()) mutate(parts, dice);
    set_timer(kHangSeconds);
    execute(i, parts, dice.chance(5), &counts, single);
    rusage r{};
    getrusage(RUSAGE_SELF, &r);
    if (r.ru_maxrss / 1024 > kMostMemoryMb) broken(i, "too much memory");
    if (i < files.size() && !single && counts.compiled != i + 1) broken(i, "a file as it is does not compile");
  }
  set_timer(0);
  std::printf("stress_payloads: %llu executions, %llu imported, %llu compiled, %llu opened\n",
              static_cast<unsigned long long>(counts.executions), static_cast<unsigned long long>(counts.imported),
              static_cast<unsigned long long>(counts.compiled), static_cast<unsigned long long>(counts.ran));
  return 0;
}
