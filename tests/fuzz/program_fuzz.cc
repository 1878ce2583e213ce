// Raw bytes as a program: whatever opens is run.

#include "tests/fuzz/any_kernels.h"
#include "tests/fuzz/run_untrusted.h"
#include "tests/fuzz/tally.h"

namespace {
mote::fuzz::Tally tally("program_fuzz");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fuzz;
  ++tally.executions;
  Dice dice(Dice::digest(data, size));
  UntrustedLimits limits;
  limits.memory_bytes = 1u << 18;
  limits.steps = 500;
  limits.select = any_kernels(dice);
  const UntrustedResult r = run_untrusted({data, size}, dice, limits);
  tally.count(r);
  return 0;
}
