#include "mote/tools/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mote/api/testing/programs.h"
#include "mote/platform/cpu.h"
#include "mote/tools/failure.h"
#include "mote/tools/machine.h"
#include "mote/tools/target_file.h"

namespace mote::tools {
namespace {

using api_test::TempPath;

void write_text(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Failure& e) {
    return e.what();
  }
  return "no failure";
}

TEST(Measure, KneesAreWhereTheRateFalls) {
  const std::vector<std::pair<uint64_t, double>> curve = {{8, 100},  {16, 104},  {32, 98},   {64, 70},     {128, 41}, {256, 40},
                                                          {512, 39}, {1024, 20}, {2048, 12}, {4096, 11.8}, {8192, 12}};
  EXPECT_EQ(cache_knees(curve), (std::vector<uint64_t>{32, 512}));
  EXPECT_TRUE(cache_knees({{8, 10}, {16, 9.5}, {32, 10.2}}).empty());
  EXPECT_TRUE(cache_knees({}).empty());
  std::vector<std::pair<uint64_t, double>> stairs;
  for (uint64_t i = 0; i < 12; ++i) stairs.push_back({i + 1, static_cast<double>(uint64_t{1} << (24 - 2 * (i / 2)))});
  EXPECT_EQ(cache_knees(stairs).size(), 3u) << "there are no more than three caches";
}

TEST(Measure, Medians) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
}

TEST(Measure, TheSystemsFilesDescribeTheMachine) {
  const TempPath root("machine");
  write_text(root.str() + "/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
  write_text(root.str() + "/proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   2048 kB\n");
  const char* const caches[][3] = {{"1", "Data", "48K"}, {"1", "Instruction", "64K"}, {"2", "Unified", "2048K"}, {"3", "Unified", "32M"}};
  for (int i = 0; i < 4; ++i) {
    const std::string folder = root.str() + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    write_text(folder + "/level", std::string(caches[i][0]) + "\n");
    write_text(folder + "/type", std::string(caches[i][1]) + "\n");
    write_text(folder + "/size", std::string(caches[i][2]) + "\n");
  }
  const Machine m = describe_machine(root.str());
  EXPECT_EQ(m.cpu, "Some CPU @ 2 GHz");
  EXPECT_EQ(m.available_bytes, 2048u << 10);
  EXPECT_EQ(m.cache_bytes, (std::array<uint64_t, 3>{48u << 10, 2u << 20, 32u << 20}));
  const Machine nothing = describe_machine(root.str() + "/none");
  EXPECT_EQ(nothing.cpu, "unknown");
  EXPECT_EQ(nothing.cache_bytes[0], 0u);
  EXPECT_GE(nothing.cores, 1u);
  std::filesystem::remove_all(root.str());
}

TEST(Measure, OthersOnTheMachineAreNoticed) {
  const TempPath root("busy");
  const auto at = [&](int user, int steal) {
    write_text(root.str() + "/proc/stat",
               "cpu  " + std::to_string(user) + " 10 300 99999 50 1 2 " + std::to_string(steal) + " 0 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n");
    return processor_time(root.str());
  };
  const ProcessorTime before = at(1000, 0), quiet = at(1200, 0), busy = at(1350, 50);
  EXPECT_EQ(quiet.processors, 2u);
  EXPECT_NEAR(busy_processors(before, quiet, 2.0, 2.0), 0, 1e-9) << "all of it was this process";
  EXPECT_NEAR(busy_processors(before, busy, 2.0, 2.0), 1.0, 1e-9) << "another one, and another machine";
  EXPECT_EQ(busy_processors(before, busy, 100, 2.0), 0);
  EXPECT_EQ(processor_time(root.str() + "/none").processors, 0u);
  EXPECT_EQ(busy_processors({}, {}, 0, 1), 0);
  std::filesystem::remove_all(root.str());
}

// What every instruction set here is measured by must do what it says.
TEST(Measure, ProbesCountAndMove) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (!kernels::can_run(isa, cpu_features())) continue;
    SCOPED_TRACE(kernels::isa_name(isa));
    const kernels::Probes p = isa == kernels::Isa::kPortable ? portable_probes() : kernels::probes_for(isa);
    float sink[3] = {1, 0.999f, 0.001f};
    ASSERT_NE(p.fma_f32, nullptr);
    EXPECT_GT(p.fma_f32(3, sink), 0u);
    EXPECT_EQ(p.fma_f32(6, sink), 2 * p.fma_f32(3, sink));
    if (p.dot_s8 != nullptr) {
      EXPECT_EQ(p.dot_s8(6, sink), 2 * p.dot_s8(3, sink));
    }
    constexpr size_t kBytes = 4 * kernels::kProbeBlock;
    alignas(64) uint8_t from[kBytes], to[kBytes + 64];
    for (size_t k = 0; k < kBytes; ++k) from[k] = static_cast<uint8_t>(k * 7);
    std::fill(std::begin(to), std::end(to), uint8_t{0xee});
    p.copy(from, to, kBytes);
    EXPECT_TRUE(std::equal(from, from + kBytes, to));
    EXPECT_EQ(std::count(to + kBytes, std::end(to), 0xee), 64);
    p.write(to, kBytes);
    EXPECT_NE(to[0], 0xee);
    EXPECT_FALSE(std::equal(from, from + kBytes, to));
    EXPECT_EQ(std::count(to + kBytes, std::end(to), 0xee), 64);
    p.read(from, kBytes, sink);
  }
}

TEST(Measure, LevelsBeyondTheFurthestAreLeftOut) {
  target::Target t;
  t.cache_bytes = {32768, 262144, 0};
  MeasureSettings s;
  s.isa = find_isa("");
  s.threads = 2;
  s.furthest = target::kL2;
  s.rounds = 1;
  s.round_ms = 0.05;
  int steps = 0;
  double last = 0;
  s.progress = [&](const std::string&, double part) {
    ++steps;
    EXPECT_GT(part, last);
    last = part;
  };
  const target::Rates r = measure_rates(t, s);
  EXPECT_EQ(steps, 2 + 2 * 3);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(r.threads, 2u);
  EXPECT_GT(r.f32_gflops, 0);
  EXPECT_GT(r.int8_gops, 0);
  for (const target::Level level : {target::kL1, target::kL2}) {
    EXPECT_GT(r.bandwidth[level].read, 0);
    EXPECT_GT(r.bandwidth[level].write, 0);
    EXPECT_GT(r.bandwidth[level].copy, 0);
  }
  EXPECT_EQ(r.bandwidth[target::kL3].read, 0);
  EXPECT_EQ(r.bandwidth[target::kMemory].read, 0);
}

TEST(Measure, NamesOfInstructionSets) {
  EXPECT_EQ(find_isa("portable"), kernels::Isa::kPortable);
  EXPECT_NE(message_of([] { find_isa("mmx"); }).find("expected one of portable"), std::string::npos);
}

TEST(Measure, TargetFiles) {
  target::Target t;
  t.cpu = t.architecture = t.kernels = t.cache_source = "x";
  t.cores = 1;
  t.one.f32_gflops = 2;
  const TempPath path("target.toml");
  save_target(path.str(), t);
  EXPECT_EQ(target::to_text(load_target(path.str())), target::to_text(t));
  write_text(path.str(), "format = 1\n[machine]\ncpu = 3\n");
  EXPECT_EQ(message_of([&] { load_target(path.str()); }),
            path.str() + ": no valid target description: line 3: the key 'cpu' of [machine]: expected a string, found 3");
  EXPECT_NE(message_of([&] { load_target(path.str() + "/no"); }).find("cannot be read"), std::string::npos);
  EXPECT_NE(message_of([&] { save_target("/no/such/folder/t.toml", t); }).find("cannot be created"), std::string::npos);
}

}  // namespace
}  // namespace mote::tools
