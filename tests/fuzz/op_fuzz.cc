// Each operator by itself: random operands and attributes -> infer -> select -> run, in buffers of exactly the right size.
// The first byte of the input picks the operator, the others steer every choice.

#include "tests/fuzz/op_run.h"
#include "tests/fuzz/tally.h"

namespace {
mote::fuzz::Tally tally("op_fuzz");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mote::fuzz;
  if (size < 2) return 0;
  ++tally.executions;
  const auto& ops = known_ops();
  const KnownOp& op = ops[data[0] % ops.size()];
  Dice dice(data + 1, size - 1);
  OpCase c;
  if (!make_case(op, dice, &c, 160)) return 0;
  ++tally.opened;
  const CaseResult r = run_case(c, dice);
  if (r.broken != nullptr) {
    std::fprintf(stderr, "%s: %s\n", op.doc->name.c_str(), r.broken);
    std::abort();
  }
  if (!r.ran) return 0;
  ++tally.ran;
  ++tally.instructions;
  tally.op_ran[op.doc->id] = true;
  return 0;
}
