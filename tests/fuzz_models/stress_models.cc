// Mutated models through the whole compiler without libFuzzer, in any sanitizer build.
//   stress_models EXECUTIONS SEED PATH...     PATH: model files, or folders of them (searched through)
//   stress_models --one N SEED PATH...        execution N alone, and its bytes as stress_models.bin
// Each execution is told by its number, the seed and the files alone. The first ones are the files as they are. One that takes more than
// 10 s is a hang; more memory than the limit below is a finding too.

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz_models/compile_untrusted.h"
#include "tests/fuzz_models/mutate_model.h"

// Of the sanitizers' run time, where the build has one: called before a report ends the process.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace mote::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSeedBytes = 400000;
constexpr int kHangSeconds = 10;  // of processor time: a busy machine is no hang
constexpr long kMostMemoryMb = 2048;

volatile uint64_t current = 0;

// Runs in a signal handler: nothing that allocates.
void tell_execution() {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "stress_models: execution %llu\n", static_cast<unsigned long long>(current));
  if (write(2, text, static_cast<size_t>(n)) < 0) _exit(3);
}

void on_signal(int signal) {
  tell_execution();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void set_timer(int seconds) {
  itimerval t{};
  t.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &t, nullptr);
}

long most_memory_mb() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  return r.ru_maxrss / 1024;
}

std::vector<fs::path> model_files(int count, char** paths) {
  std::vector<fs::path> all;
  const auto add = [&](const fs::path& p) {
    const fs::path type = p.extension();
    const bool model = type == ".onnx" || type == ".tflite" || type == ".pt2" || type == ".tosa" || type == ".pte";
    if (model && fs::file_size(p) <= kMostSeedBytes) all.push_back(p);
  };
  for (int i = 0; i < count; ++i) {
    if (!fs::is_directory(paths[i])) {
      add(paths[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(paths[i]))
      if (entry.is_regular_file()) add(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

class Stress {
 public:
  Stress(std::vector<fs::path> files, uint64_t seed) : files_(std::move(files)), seeds_(files_.size()), seed_(seed) {}

  ModelBytes bytes_of(uint64_t number, Dice& dice) {
    const size_t which = number < files_.size() ? static_cast<size_t>(number) : dice.raw() % files_.size();
    if (seeds_[which].empty()) {
      std::ifstream file(files_[which], std::ios::binary);
      seeds_[which].assign(std::istreambuf_iterator<char>(file), {});
    }
    ModelBytes bytes = seeds_[which];
    if (number >= files_.size()) mutate_model(bytes, dice);
    return bytes;
  }

  void one(uint64_t number, bool keep) {
    Dice dice((seed_ << 40) + number);
    const ModelBytes bytes = bytes_of(number, dice);
    if (keep)
      std::ofstream("stress_models.bin", std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
    const std::clock_t begin = std::clock();
    const CompiledModel r = compile_untrusted({bytes.data(), bytes.size()}, number < files_.size() || dice.chance(2));
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > slowest_) {
      slowest_ = seconds;
      slowest_number_ = number;
    }
    tflite_ += r.tflite;
    torch_ += r.torch;
    tosa_ += r.tosa;
    executorch_ += r.executorch;
    ++executions_;
    imported_ += r.imported;
    compiled_ += r.compiled;
    if (keep) std::printf("imported %d compiled %d %.3f s %s\n", r.imported, r.compiled, seconds, r.problem.c_str());
  }

  void tell() const {
    std::printf(
        "stress_models: %llu executions (%llu TFLite, %llu PyTorch, %llu TOSA, %llu ExecuTorch), %llu imported, %llu compiled, "
        "slowest %.2f s (execution %llu), %ld MB\n",
        static_cast<unsigned long long>(executions_), static_cast<unsigned long long>(tflite_), static_cast<unsigned long long>(torch_),
        static_cast<unsigned long long>(tosa_), static_cast<unsigned long long>(executorch_), static_cast<unsigned long long>(imported_),
        static_cast<unsigned long long>(compiled_), slowest_, static_cast<unsigned long long>(slowest_number_), most_memory_mb());
    std::fflush(stdout);
  }

 private:
  std::vector<fs::path> files_;
  std::vector<ModelBytes> seeds_;
  uint64_t seed_, executions_ = 0, tflite_ = 0, torch_ = 0, tosa_ = 0, executorch_ = 0, imported_ = 0, compiled_ = 0, slowest_number_ = 0;
  double slowest_ = 0;
};

}  // namespace
}  // namespace mote::fuzz

int main(int argc, char** argv) {
  using namespace mote::fuzz;
  const bool single = argc > 1 && std::strcmp(argv[1], "--one") == 0;
  if (single) ++argv, --argc;
  if (argc < 4) {
    std::fprintf(stderr, "usage: stress_models EXECUTIONS SEED PATH...\n");
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGPROF}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(tell_execution);
  const uint64_t count = std::strtoull(argv[1], nullptr, 10), seed = std::strtoull(argv[2], nullptr, 10);
  auto files = model_files(argc - 3, argv + 3);
  if (files.empty()) {
    std::fprintf(stderr, "stress_models: no model found\n");
    return 2;
  }
  Stress stress(std::move(files), seed);
  for (uint64_t i = single ? count : 0; i < count + (single ? 1 : 0); ++i) {
    current = i;
    set_timer(kHangSeconds);
    stress.one(i, single);
    if (most_memory_mb() > kMostMemoryMb) {
      std::fprintf(stderr, "stress_models: more than %ld MB of memory\n", kMostMemoryMb);
      std::abort();
    }
    if (i % 10000 == 9999) stress.tell();
  }
  set_timer(0);
  stress.tell();
  return 0;
}
