// Runs the kept inputs with any compiler: seed programs and regressions through what the fuzz targets do, without libFuzzer.
// Every seed program must still open: a change of the format or of an operator's shapes that breaks one breaks users' files too.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/any_kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/op_run.h"
#include "tests/fuzz/run_host.h"

namespace mote::fuzz {
namespace {

struct Input {
  std::string name;
  std::vector<uint8_t> bytes;
};

std::vector<Input> inputs_in(const std::string& folder, const std::string& prefix) {
  std::vector<Input> all;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MOTE_FUZZ_DIR) + "/" + folder)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    all.push_back({entry.path().filename().string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(all.begin(), all.end(), [](const Input& a, const Input& b) { return a.name < b.name; });
  return all;
}

UntrustedResult run(const std::vector<uint8_t>& bytes, SelectKernel select = nullptr) {
  Dice dice(Dice::digest(bytes.data(), bytes.size()));
  UntrustedLimits limits;
  limits.memory_bytes = 1u << 20;
  limits.select = select;
  return run_untrusted({bytes.data(), bytes.size()}, dice, limits);
}

TEST(Replay, SeedProgramsOpenAndRun) {
  const auto seeds = inputs_in("corpus", "");
  ASSERT_GE(seeds.size(), 50u);
  for (const Input& seed : seeds) {
    const UntrustedResult r = run(seed.bytes);
    EXPECT_TRUE(r.open.ok()) << seed.name << ": " << status_name(r.open.code()) << ", " << why_text(r.open.why());
    EXPECT_GT(r.methods_run, 0u) << seed.name;
    EXPECT_EQ(r.broken, nullptr) << seed.name;
  }
}

UntrustedResult run_in_host(const std::vector<uint8_t>& bytes, uint64_t seed) {
  Dice dice(seed);
  return run_host({bytes.data(), bytes.size()}, dice, 500);
}

// Through the C interface, under memory limits, on the backends of this build.
TEST(Replay, HostSeedsAndTheirMutationsDoNoHarm) {
  const auto seeds = inputs_in("corpus_host", "");
  ASSERT_GE(seeds.size(), 20u);
  uint64_t delegated = 0, mutated = 0;
  for (const Input& seed : seeds) {
    const UntrustedResult r = run_in_host(seed.bytes, 1);
    EXPECT_EQ(r.broken, nullptr) << seed.name;
    delegated += r.delegated ? 1 : 0;
    for (uint64_t i = 0; i < 20; ++i) {
      Dice dice(i);
      std::vector<uint8_t> bytes = seed.bytes;
      bytes.resize(16384);
      bytes.resize(mutate_for_host(bytes.data(), seed.bytes.size(), bytes.size(), dice));
      const UntrustedResult m = run_in_host(bytes, i);
      EXPECT_EQ(m.broken, nullptr) << seed.name << ", mutation " << i << ": " << m.broken;
      mutated += m.delegated ? 1 : 0;
    }
  }
  EXPECT_GE(delegated * 4, seeds.size()) << "most pieces of the corpus run, where memory limits let them";
  EXPECT_GT(mutated, 20u);
}

TEST(Replay, MutatedSeedsDoNoHarm) {
  uint64_t opened = 0;
  for (const Input& seed : inputs_in("corpus", "")) {
    for (uint64_t i = 0; i < 20; ++i) {
      Dice dice(i);
      std::vector<uint8_t> bytes = seed.bytes;
      mutate_program({bytes.data(), bytes.size()}, dice);
      const UntrustedResult r = run(bytes);
      EXPECT_EQ(r.broken, nullptr) << seed.name << ", mutation " << i;
      opened += r.open.ok() ? 1 : 0;
    }
  }
  EXPECT_GT(opened, 100u);
}

// Every instruction set of this build and machine; the portable kernels first.
std::vector<SelectKernel> all_kernels() {
  std::vector<SelectKernel> all;
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i)
    if (kernels::can_run(static_cast<kernels::Isa>(i), cpu_features())) all.push_back(kernels::select_for(static_cast<kernels::Isa>(i)));
  return all;
}

TEST(Replay, ProgramRegressions) {
  for (const Input& input : inputs_in("regressions", "program-"))
    for (const SelectKernel select : all_kernels()) EXPECT_EQ(run(input.bytes, select).broken, nullptr) << input.name;
}

// Inputs of host_fuzz: what they broke was in a backend.
TEST(Replay, HostRegressions) {
  const auto inputs = inputs_in("regressions", "host-");
  EXPECT_GE(inputs.size(), 6u);
  for (const Input& input : inputs)
    for (uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(run_in_host(input.bytes, seed).broken, nullptr) << input.name;
}

TEST(Replay, OperatorRegressions) {
  for (const Input& input : inputs_in("regressions", "op-")) {
    ASSERT_GE(input.bytes.size(), 2u) << input.name;
    for (const SelectKernel select : all_kernels())
      EXPECT_EQ(fuzz_op(input.bytes.data(), input.bytes.size(), select).broken, nullptr) << input.name;
  }
}

TEST(Replay, EveryOperatorAcceptsRandomCases) {
  std::string silent;
  size_t accepted = 0;
  for (const KnownOp& op : known_ops()) {
    Dice dice(op.doc->id);
    OpCase c;
    bool ran = false;
    for (int i = 0; i < 20 && !ran; ++i) {
      if (!make_case(op, dice, &c, 2000)) continue;
      const CaseResult r = run_case(c, dice, i % 2 == 0 ? nullptr : all_kernels().back());
      EXPECT_EQ(r.broken, nullptr) << op.doc->name;
      ran = r.ran;
    }
    accepted += ran ? 1 : 0;
    if (!ran) silent += " " + op.doc->name;
  }
  EXPECT_GE(accepted * 100, known_ops().size() * 95) << "operators for which no case was found:" << silent;
}

}  // namespace
}  // namespace mote::fuzz
