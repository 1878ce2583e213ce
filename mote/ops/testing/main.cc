#include <cstdio>
#include <cstring>

#include "mote/kernels/select.h"
#include "mote/kernels/testing/missing_isas.h"
#include "mote/ops/testing/ledger.h"
#include "mote/platform/cpu.h"

// Says why, where this machine or this build cannot run them: ctest then names the test as skipped.
static bool use_kernels(const char* name) {
  using namespace mote::kernels;
  for (uint8_t i = 0; i < static_cast<uint8_t>(Isa::kCount); ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (std::strcmp(isa_name(isa), name) != 0) continue;
    if (!can_run(isa, mote::cpu_features())) break;
    mote::optest::fast_kernels = select_for(isa);
    return true;
  }
  std::printf("SKIPPED: the kernels of '%s' were not tried; ISA variants that no test here tries:%s\n", name,
              mote::kerneltest::missing_isas().c_str());
  return false;
}

// Runs the operator tests; when all of them ran (no filter), fails if an operator, a type or an edge case was never tried.
// An argument names the instruction set whose kernels are tried first (mote/core/isa.def).
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && !use_kernels(argv[1])) return 0;
  const bool everything = ::testing::GTEST_FLAG(filter) == "*" && !::testing::GTEST_FLAG(list_tests);
  const int failed = RUN_ALL_TESTS();
  if (!everything) return failed;
  const auto gaps = mote::optest::ledger_gaps();
  for (const std::string& line : gaps) std::printf("not covered: %s\n", line.c_str());
  if (gaps.empty()) std::printf("coverage: every operator, claimed type and edge shape was run\n");
  return failed != 0 || !gaps.empty();
}
