// Runs the kept inputs with any compiler: seed programs and regressions through what the fuzz targets do, without libFuzzer.
// Every seed program must still open: a change of the format or of an operator's shapes that breaks one breaks users' files too.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/op_run.h"
#include "tests/fuzz/run_untrusted.h"

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

UntrustedResult run(const std::vector<uint8_t>& bytes) {
  Dice dice(Dice::digest(bytes.data(), bytes.size()));
  UntrustedLimits limits;
  limits.memory_bytes = 1u << 20;
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

TEST(Replay, ProgramRegressions) {
  for (const Input& input : inputs_in("regressions", "program-")) EXPECT_EQ(run(input.bytes).broken, nullptr) << input.name;
}

TEST(Replay, OperatorRegressions) {
  for (const Input& input : inputs_in("regressions", "op-")) {
    ASSERT_GE(input.bytes.size(), 2u) << input.name;
    EXPECT_EQ(fuzz_op(input.bytes.data(), input.bytes.size()).broken, nullptr) << input.name;
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
      const CaseResult r = run_case(c, dice);
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
