#include <gtest/gtest.h>

#include <cstdlib>

#include "mote/kernels/testing/missing_isas.h"
#include "tests/integers/integer_program.h"
#include "tests/integers/run_everywhere.h"

namespace mote::integers {
namespace {

TEST(IntegerPrograms, GiveTheSameBitsWithEveryKernelAndThreadCount) {
  const char* wanted = std::getenv("MOTE_INTEGER_SEEDS");
  const uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 300;
  uint64_t made = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fuzz::Dice dice(seed);
    emit::FileBytes file;
    std::string error;
    if (!make_program(dice, &file, &error)) continue;
    ++made;
    Everywhere result;
    ASSERT_TRUE(run_everywhere(file.span(), dice, &result, &error)) << error;
    ASSERT_EQ(result.difference, "");
    ASSERT_GE(result.runs, 3);
  }
  EXPECT_GT(made * 10, seeds * 8);  // most rolls of the dice give a program
}

TEST(IntegerPrograms, IsaVariantsThatWereNotTried) {
  const std::string missing = kerneltest::missing_isas();
  if (!missing.empty()) GTEST_SKIP() << "ISA variants that were not tried:" << missing;
}

}  // namespace
}  // namespace mote::integers
