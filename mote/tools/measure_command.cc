#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>

#include "mote/platform/clock.h"
#include "mote/platform/thread_pool.h"
#include "mote/tools/commands.h"
#include "mote/tools/machine.h"
#include "mote/tools/measure.h"
#include "mote/tools/measure_backends.h"
#include "mote/tools/progress.h"
#include "mote/tools/target_file.h"

namespace mote::tools {
namespace {

constexpr double kBusy = 1.15;

struct Settings {
  std::string output, kernels;
  std::vector<std::string> backends;
  uint32_t threads = 0;
  bool json = false;
};

// Said before seconds are spent on measuring. Nothing of an existing file is touched.
void check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Failure(path + ": the file cannot be written: it is a folder");
  const std::string temporary = path + ".tmp";
  std::FILE* f = std::fopen(temporary.c_str(), "wb");
  if (f == nullptr) throw Failure(path + ": the file cannot be written: " + std::strerror(errno));
  std::fclose(f);
  std::remove(temporary.c_str());
}

// Above this part of the processors, what others do is seen in the figures.
constexpr double kOthers = 0.1;

void say_doubts(const target::Target& t, double noise, double others, uint32_t processors) {
  if (others > kOthers * processors)
    std::fprintf(
        stderr,
        "mote: warning: the machine is busy: other processes used %.1f of its %u processors while this was measured; rates are lower "
        "than what it can do. Measure again when it is idle\n",
        others, processors);
  if (noise > kBusy)
    std::fprintf(stderr, "mote: note: other work disturbed the measurement (the best rounds are %.0f %% above the median)\n",
                 100 * (noise - 1));
  if (t.all.threads > 1 && t.all.f32_gflops < kBusy * t.one.f32_gflops)
    std::fprintf(stderr, "mote: note: %u threads reached no more than one: they share a core, or other work holds the processors\n",
                 t.all.threads);
}

void measure(const Settings& s) {
  MeasureSettings m;
  m.isa = find_isa(s.kernels);
  m.threads = s.threads > 0 ? s.threads : std::clamp(std::thread::hardware_concurrency(), 1u, ThreadPool::kMaxThreads);
  if (!s.output.empty()) check_writable(s.output);
  Progress progress;
  m.progress = [&](const std::string& what, double part) { progress.show(what, part); };
  double noise = 1;
  m.noise = &noise;
  const ProcessorTime before = processor_time();
  const std::clock_t own = std::clock();
  const uint64_t begin = clock_now_ns();
  target::Target t = measure_target(m);
  if (!s.backends.empty()) measure_backends(s.backends, m, &t);
  progress.clear();
  const ProcessorTime after = processor_time();
  const double others = busy_processors(before, after, static_cast<double>(std::clock() - own) / CLOCKS_PER_SEC,
                                        static_cast<double>(clock_now_ns() - begin) / 1e9);
  say_doubts(t, noise, others, after.processors);
  if (!s.output.empty()) save_target(s.output, t);
  if (s.json) {
    Json j = target_json(t);
    j["noise"] = noise;
    j["others_busy"] = others;
    return print_json(j);
  }
  if (s.output.empty()) {
    std::printf("%s", target::to_text(t).c_str());
    return;
  }
  std::printf("%s: %s, %s kernels\n  1 thread:  %s\n", s.output.c_str(), t.cpu.c_str(), t.kernels.c_str(), rates_text(t.one).c_str());
  for (const target::BackendRates& b : t.backends)
    std::printf("  %s (%s): transfer %.2f GB/s, hand-over %.1f us\n", b.backend.c_str(), b.device.c_str(), b.transfer_gbps,
                b.sync_ns / 1e3);
  if (t.all.threads > 1) std::printf("  %u threads: %s\n", t.all.threads, rates_text(t.all).c_str());
}

}  // namespace

void add_measure(CLI::App& app, Context& context) {
  auto s = std::make_shared<Settings>();
  CLI::App* c = app.add_subcommand("measure", "Measure what this machine can do: peak rates, bandwidths, caches, cost of calls");
  c->add_option("-o,--output", s->output, "write the target description (TOML) there (default: print it)");
  c->add_option("--kernels", s->kernels, "instruction set to measure (default: the best of this machine)");
  c->add_option("--threads", s->threads, "threads to measure beside one (default: all processors)")
      ->check(CLI::Range(1u, ThreadPool::kMaxThreads));
  c->add_option("--backend", s->backends,
                "measure this backend's device, too: what launches, transfers and kinds of work cost; once for each")
      ->allow_extra_args(false);
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    measure(*s);
  });
}

}  // namespace mote::tools
