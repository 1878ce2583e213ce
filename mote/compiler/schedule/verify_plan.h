#pragma once

#include <string>

#include "mote/compiler/schedule/plan.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Proves that a plan is sound: indices are in range, tensors lie inside their buffers and buffers inside their banks, control ranges nest,
// operators accept their operands, overlaps of operands are those the operators permit, and buffers that are live at the same step do not
// overlap. False with *error, which names the step or tensor.
bool verify_plan(const Plan& plan, const OpRegistry& ops, std::string* error);

}  // namespace mote::schedule
