// Each operator by itself: random operands and attributes -> infer -> select -> run, in buffers of exactly the right size.

#include "tests/fuzz/any_kernels.h"
#include "tests/fuzz/op_run.h"
#include "tests/fuzz/tally.h"

namespace {
mote::fuzz::Tally tally("op_fuzz");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  ++tally.executions;
  mote::fuzz::Dice dice(mote::fuzz::Dice::digest(data, size));
  const mote::fuzz::FuzzedOp r = mote::fuzz::fuzz_op(data, size, mote::fuzz::any_kernels(dice));
  if (r.broken != nullptr) {
    std::fprintf(stderr, "%s: %s\n", r.op->name.c_str(), r.broken);
    std::abort();
  }
  tally.opened += r.accepted ? 1 : 0;
  if (!r.ran) return 0;
  ++tally.ran;
  ++tally.instructions;
  tally.op_ran[r.op->id] = true;
  return 0;
}
