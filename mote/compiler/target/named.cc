// Machines that programs may be compiled for without a measurement. Rates are round figures of what `mote measure` says of such machines.

#include "mote/compiler/target/target.h"

namespace mote::target {
namespace {

struct Core {
  double f32_gflops, int8_gops;
  std::array<uint64_t, kMemory> cache_bytes;
  std::array<Bandwidth, kLevelCount> bandwidth;
};

// Threads share the last cache and the memory, which `shared` of them fill.
Target machine(const char* name, const char* architecture, const char* kernels, uint32_t cores, double shared, const Core& core) {
  Target t;
  t.cpu = name;
  t.architecture = architecture;
  t.kernels = kernels;
  t.cores = cores;
  t.cache_bytes = core.cache_bytes;
  t.cache_source = "named";
  t.one.f32_gflops = core.f32_gflops;
  t.one.int8_gops = core.int8_gops;
  t.one.bandwidth = core.bandwidth;
  t.all = t.one;
  t.all.threads = cores;
  t.all.f32_gflops *= cores;
  t.all.int8_gops *= cores;
  for (size_t i = 0; i < kLevelCount; ++i) {
    const double factor = i < kL3 ? cores : shared;
    for (double Bandwidth::*rate : {&Bandwidth::read, &Bandwidth::write, &Bandwidth::copy}) t.all.bandwidth[i].*rate *= factor;
  }
  t.call_ns = 10;
  t.handoff_awake_us = 0.7;
  t.handoff_asleep_us = 40;
  return t;
}

// One core without caches to speak of: everything is in memory on the chip.
Target microcontroller(const char* name, const char* architecture, const char* kernels, double f32_gflops, double int8_gops) {
  const Bandwidth memory{0.4, 0.4, 0.4};
  return machine(name, architecture, kernels, 1, 1, {f32_gflops, int8_gops, {0, 0, 0}, {memory, memory, memory, memory}});
}

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

struct Named {
  const char* name;
  Target target;
};

const std::array<Named, 9>& all() {
  static const std::array<Named, 9> kAll = {{
      {"generic", machine("generic", "any", "any", 4, 2,
                          {80, 200, {32 * kKiB, 1 * kMiB, 16 * kMiB}, {{{150, 80, 150}, {70, 35, 55}, {25, 18, 25}, {12, 7, 10}}}})},
      {"avx2", machine("avx2", "x86_64", "avx2", 4, 2,
                       {100, 200, {32 * kKiB, 512 * kKiB, 16 * kMiB}, {{{180, 90, 170}, {60, 35, 50}, {25, 18, 25}, {12, 7, 10}}}})},
      {"avx512", machine("avx512", "x86_64", "avx512vnni", 4, 2,
                         {160, 640, {48 * kKiB, 2 * kMiB, 32 * kMiB}, {{{300, 120, 250}, {130, 42, 72}, {25, 20, 26}, {14, 7, 10}}}})},
      {"neon", machine("neon", "aarch64", "neon", 4, 1.5,
                       {35, 90, {64 * kKiB, 512 * kKiB, 2 * kMiB}, {{{60, 40, 70}, {30, 20, 30}, {15, 10, 15}, {8, 5, 7}}}})},
      {"cortex-m0plus", microcontroller("cortex-m0plus", "armv6-m", "any", 0.002, 0.02)},
      {"cortex-m4", microcontroller("cortex-m4", "armv7e-m", "dsp", 0.08, 0.2)},
      {"cortex-m7", microcontroller("cortex-m7", "armv7e-m", "dsp", 0.8, 1)},
      {"cortex-m33", microcontroller("cortex-m33", "armv8-m", "dsp", 0.1, 0.3)},
      {"cortex-m55", microcontroller("cortex-m55", "armv8.1-m", "helium", 0.8, 4)},
  }};
  return kAll;
}

}  // namespace

const Target* named(const std::string& name) {
  for (const Named& n : all())
    if (n.name == name) return &n.target;
  return nullptr;
}

std::string names() {
  std::string text;
  for (const Named& n : all()) text += (text.empty() ? "" : ", ") + std::string(n.name);
  return text;
}

}  // namespace mote::target
