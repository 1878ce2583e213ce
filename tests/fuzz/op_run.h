#pragma once

#include "tests/fuzz/op_case.h"

namespace mote::fuzz {

struct CaseResult {
  Status status;
  bool ran = false;              // a kernel was called
  const char* broken = nullptr;  // a promise the kernel broke: it wrote where it must not
};

// Runs an accepted case the way the runtime does: verification's view first, then, for sizes known only when running, again with all
// values. Every buffer has exactly the size it must have. Sometimes rows have gaps, outputs lie on inputs, or only a range of rows
// is computed through rings.
// select: as InstanceOptions::select.
using SelectKernel = KernelFn (*)(uint16_t op, const OpContext&) noexcept;
CaseResult run_case(OpCase& c, Dice& dice, SelectKernel select = nullptr);

// What op_fuzz does with its input: the first two bytes pick the operator by its id, so that inputs keep their meaning when operators are
// added; the others steer every choice.
struct FuzzedOp : CaseResult {
  const OpDoc* op = nullptr;
  bool accepted = false;
};
FuzzedOp fuzz_op(const uint8_t* data, size_t size, SelectKernel select = nullptr);

}  // namespace mote::fuzz
