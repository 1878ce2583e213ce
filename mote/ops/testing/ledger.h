#pragma once

// What the operator tests have tried, and what they must try.

#include "mote/ops/testing/harness.h"

namespace mote::optest {

// Enters a successful run.
void ledger_add(OpId op, const std::vector<Array>& inputs, const std::vector<Array>& outputs);

// Lines that name what no test tried: an operator, one of its element types, an empty tensor. Empty when nothing is missing.
std::vector<std::string> ledger_gaps();

}  // namespace mote::optest
