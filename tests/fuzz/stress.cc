// The work of the fuzz targets without libFuzzer: no coverage feedback, but several times the speed, in any sanitizer build.
//   stress EXECUTIONS SEED [DIR...]       DIR: seed programs, e.g. tests/fuzz/corpus or what a fuzz target has collected
// One execution is one mutated program, one program with changed bytes, one operator case, or one program with pieces for backends through
// the C interface; with MOTE_STRESS=host only the last. A finding prints the number of the execution and the stack;
// stress NUMBER+1 SEED DIR... comes there again, on a processor with the same instructions.

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/any_kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/op_run.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_host.h"
#include "tests/fuzz/tally.h"

#if defined(__SANITIZE_ADDRESS__)
#define MOTE_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOTE_HAS_SANITIZER 1
#endif
#endif

#if defined(MOTE_HAS_SANITIZER)
#include <sanitizer/common_interface_defs.h>

// Read by the sanitizers as they start.
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1:abort_on_error=1"; }
#endif

namespace mote::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

volatile uint64_t current = 0;

// Runs in a signal handler or after a sanitizer's report: nothing that allocates.
void report() {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "stress: execution %llu\n", static_cast<unsigned long long>(current));
  if (write(2, text, static_cast<size_t>(n)) < 0) _exit(3);
}
void on_signal(int signal) {
  report();
#if defined(MOTE_HAS_SANITIZER)
  if (signal != SIGABRT) __sanitizer_print_stack_trace();  // before an abort the sanitizer has printed its own
#endif
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<Bytes> load(int count, char** folders) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(folders[i])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // a folder lists them in another order on another machine
  std::vector<Bytes> all;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (all.back().size() < 64 || all.back().size() > 16384) all.pop_back();
  }
  return all;
}

// Each execution is told by its number and the seed alone, so that it can be run again.
class Stress {
 public:
  Stress(std::vector<Bytes> seeds, uint64_t seed) : seeds_(std::move(seeds)), seed_(seed) {}

  void one(uint64_t number) {
    Dice dice((seed_ << 40) + number);
    ++tally_.executions;
    const uint32_t kind = host_only_ ? 0 : dice.below(100);
    if (kind < 25) return host_case(number, dice);
    if (kind < 45) return operator_case(dice);
    Bytes bytes = program(dice);
    if (kind < 75) mutate_program({bytes.data(), bytes.size()}, dice);
    else change_bytes(bytes, dice);
    UntrustedLimits limits;
    limits.memory_bytes = 1u << 18;
    limits.steps = 300;
    limits.select = any_kernels(dice);
    tally_.count(run_untrusted({bytes.data(), bytes.size()}, dice, limits));
  }

 private:
  Bytes program(Dice& dice) {
    if (!seeds_.empty() && !dice.chance(3)) return seeds_[dice.raw() % seeds_.size()];
    emit::FileBytes file;
    std::string error;
    if (!make_program(dice, {}, &file, &error)) return Bytes(64);
    return Bytes(file.data(), file.data() + file.size);
  }

  // Sizes of seeds and of fresh programs stay below this.
  static constexpr size_t kMostBytes = 16384;

  // Making a piece that a backend supports takes longer than running it: some executions in a row change the same program.
  void host_case(uint64_t number, Dice& dice) {
    constexpr uint64_t kInARow = 12;
    if (base_.empty() || number / kInARow != base_number_) {
      base_number_ = number / kInARow;
      Dice base_dice((seed_ << 40) + (uint64_t{1} << 39) + base_number_);
      base_.assign(kMostBytes, 0);
      if (base_dice.chance(30) && !seeds_.empty()) base_ = seeds_[base_dice.raw() % seeds_.size()];
      else base_.resize(mutate_for_host(base_.data(), 0, kMostBytes, base_dice));
    }
    Bytes bytes = base_;
    if (number % kInARow != 0) {
      if (dice.chance(50)) mutate_blobs({bytes.data(), bytes.size()}, dice);
      else mutate_program({bytes.data(), bytes.size()}, dice);
    }
    tally_.count(run_host({bytes.data(), bytes.size()}, dice, 300));
  }

  static void change_bytes(Bytes& bytes, Dice& dice) {
    for (uint32_t i = 0, n = 1 + dice.below(6); i < n; ++i) {
      uint8_t& b = bytes[dice.raw() % bytes.size()];
      b = dice.chance(50) ? static_cast<uint8_t>(b ^ 1u << dice.below(8)) : dice.byte();
    }
    if (dice.chance(5)) bytes.resize(dice.raw() % bytes.size() + 1);
  }

  void operator_case(Dice& dice) {
    uint8_t choices[24];
    for (uint8_t& c : choices) c = dice.byte();
    const FuzzedOp r = fuzz_op(choices, sizeof choices, any_kernels(dice));
    if (r.broken != nullptr) {
      std::fprintf(stderr, "%s: %s\n", r.op->name.c_str(), r.broken);
      std::abort();
    }
    tally_.opened += r.accepted ? 1 : 0;
    if (!r.ran) return;
    ++tally_.ran;
    ++tally_.instructions;
    tally_.op_ran[r.op->id] = true;
  }

  const std::vector<Bytes> seeds_;
  const uint64_t seed_;
  Bytes base_;
  uint64_t base_number_ = 0;
  const bool host_only_ = std::getenv("MOTE_STRESS") != nullptr && std::strcmp(std::getenv("MOTE_STRESS"), "host") == 0;
  Tally tally_{"stress"};
};

}  // namespace
}  // namespace mote::fuzz

int main(int argc, char** argv) {
  using namespace mote::fuzz;
  if (argc < 3) {
    std::fprintf(stderr, "usage: stress EXECUTIONS SEED [DIR...]\n");
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGVTALRM}) std::signal(signal, on_signal);
  const uint64_t count = std::strtoull(argv[1], nullptr, 10), seed = std::strtoull(argv[2], nullptr, 10);
  Stress stress(load(argc - 3, argv + 3), seed);
  for (uint64_t i = 0; i < count; ++i) {
    current = i;
    // An execution that takes this long hangs. Its own time: a busy machine makes it wait for longer than that.
    const itimerval limit{{0, 0}, {20, 0}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    stress.one(i);
  }
  return 0;
}
