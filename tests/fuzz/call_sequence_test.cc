// Random sequences of calls through the C interface: no crash, no leak (preset asan), and every status what it must be.

#include "tests/fuzz/call_sequence.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace mote::fuzz {
namespace {

// What the installed headers declare.
std::set<std::string> declared_functions() {
  std::set<std::string> names;
  const std::regex declaration("MOTE_EXPORT[^;(]*\\b(mote_[a-z_]+)\\(");
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MOTE_SOURCE_DIR) + "/mote/api")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) names.insert((*it)[1]);
  }
  return names;
}

TEST(CallSequence, EveryFunctionInAnyOrder) {
  CallTally tally;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    const std::string wrong = run_call_sequence(dice, 120, &tally);
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
  EXPECT_EQ(tally.functions, declared_functions());
  // Sequences that only meet refusals prove little.
  EXPECT_GT(tally.finished, 5000u);
  EXPECT_GT(tally.refused, 10000u);
}

}  // namespace
}  // namespace mote::fuzz
