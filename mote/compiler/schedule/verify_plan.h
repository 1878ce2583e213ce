#pragma once

#include <string>

#include "mote/compiler/schedule/plan.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Proves that a plan is sound: numbers point to what exists, tensors lie inside their buffers and buffers inside their banks, ranges nest,
// operators accept their operands, what is written over what is as the operators permit, and buffers that are needed at the same time do
// not overlap. False with *error, which names the step or tensor.
bool verify_plan(const Plan& plan, const OpRegistry& ops, std::string* error);

}  // namespace mote::schedule
