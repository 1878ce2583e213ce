#pragma once

// Convolutions in a strip of their own, a few rows a trip, so that their output may lie on rows of the input that are read no more
// (overlap.h). For programs in a file: any kernel will do, because what a trip writes it does not read.

#include <string>

#include "mote/compiler/schedule/plan.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Puts such strips where they make the peak of a plan with shared memory smaller, until it is at most `goal` bytes (0: at most four
// trips each, as small as it gets). Buffers get their places. False with *error when they do not fit.
bool overlap_rows(Plan& plan, const OpRegistry& ops, uint32_t alignment, uint64_t goal, std::string* error);

}  // namespace mote::schedule
