#pragma once

// Puts convolutions into strips of their own, a few rows a trip, so that their output may overlap input rows whose last use has passed
// (overlap.h). Works with any kernel, so programs in a file may have it: no trip writes bytes that it reads.

#include <string>

#include "mote/compiler/schedule/plan.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Puts such strips where they make the peak of a plan with shared memory smaller, until it is at most `goal` bytes (0: at most four
// trips each, as small as it gets). Buffers get their places. False with *error when they do not fit.
bool overlap_rows(Plan& plan, const OpRegistry& ops, uint32_t alignment, uint64_t goal, std::string* error);

}  // namespace mote::schedule
