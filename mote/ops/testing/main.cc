#include <cstdio>
#include <cstring>

#include "mote/ops/testing/ledger.h"

// Runs the operator tests; when all of them ran (no filter), fails if an operator, a type or an edge case was never tried.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const bool everything = ::testing::GTEST_FLAG(filter) == "*" && !::testing::GTEST_FLAG(list_tests);
  const int failed = RUN_ALL_TESTS();
  if (!everything) return failed;
  const auto gaps = mote::optest::ledger_gaps();
  for (const std::string& line : gaps) std::printf("not covered: %s\n", line.c_str());
  if (gaps.empty()) std::printf("coverage: every operator, claimed type and edge shape was run\n");
  return failed != 0 || !gaps.empty();
}
