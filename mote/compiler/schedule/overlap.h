#pragma once

// Outputs that lie on the input they are computed from, a little in front of it: kernels that compute pixel after pixel (Step::in_order)
// overwrite only what they will not read again. "In-place depthwise" is the best known case. Steps that are alone in a strip do so by the
// rows of a trip, whatever the kernel; where the trips go backwards, the output lies a little behind the input.

#include <cstdint>
#include <vector>

#include "mote/compiler/emit/memory.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::schedule {

// Buffer `output` begins in the step where `input` ends, and may share its bytes when it starts at least `distance` bytes before it (or
// behind it).
struct Overlap {
  uint32_t step;
  int32_t output, input;
  int64_t distance;
  bool behind = false;
};

// `lives`: as buffer_lives gives them. Each buffer is at most once an output and once an input.
std::vector<Overlap> find_overlaps(const Plan& plan, const std::vector<emit::Life>& lives);

}  // namespace mote::schedule
