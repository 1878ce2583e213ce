#pragma once

// What the operator tests have tried, and what they must try.

#include "mote/ops/testing/harness.h"

namespace mote::optest {

// Enters a successful run.
void ledger_add(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

// Lines that name what no test tried: an operator, one of its element types, an empty tensor, the least and greatest rank it claims;
// and operators that take a rank they do not claim. Empty when nothing is missing.
std::vector<std::string> ledger_gaps();

}  // namespace mote::optest
