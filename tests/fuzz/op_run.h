#pragma once

#include "tests/fuzz/op_case.h"

namespace mote::fuzz {

struct CaseResult {
  Status status;
  bool ran = false;               // a kernel was called
  const char* broken = nullptr;   // a promise the kernel broke: it wrote where it must not
};

// Runs an accepted case the way the runtime does: verification's view first, then, for sizes known only when running, again with all
// values. Every buffer has exactly the size it must have. Sometimes rows have gaps, outputs lie on inputs, or only a range of rows
// is computed through rings.
CaseResult run_case(OpCase& c, Dice& dice);

}  // namespace mote::fuzz
