#pragma once

// Outputs that partly overlap the input they are computed from ("in-place depthwise" is the best known case). A kernel that computes pixel
// after pixel (Step::in_order) may write an output that starts a few bytes before its input: it overwrites only what it has read for the
// last time. A step alone in a strip may do so with any kernel, trip by trip; where the trips go backwards, the output starts behind the
// input's start.

#include <cstdint>
#include <vector>

#include "mote/compiler/memory/assign_offsets.h"
#include "mote/compiler/schedule/plan.h"

namespace mote::schedule {

// In step `step` buffer `output` is first written and buffer `input` last read. They may share bytes when the output starts at least
// `distance` bytes before the input or, with `starts_after`, behind its start.
struct Overlap {
  uint32_t step;
  int32_t output, input;
  int64_t distance;
  bool starts_after = false;
};

// `live`: as buffer_live_ranges gives them. Each buffer is at most once an output and once an input.
std::vector<Overlap> find_overlaps(const Plan& plan, const std::vector<memory::LiveRange>& live);

}  // namespace mote::schedule
