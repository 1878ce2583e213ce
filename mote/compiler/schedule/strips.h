#pragma once

// Strips (depth-first tiles): a chain of steps that compute rows from rows (convolutions, pools, element-wise operators) runs a few rows at
// a time, so that tensors between its steps exist only as rings of rows. No row is computed twice.

#include <optional>
#include <string>
#include <vector>

#include "mote/compiler/schedule/plan.h"
#include "mote/ops/common/window.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// Steps [first, last] of a plan fresh from StepBuilder, with this many rows of the last step's output in each trip.
struct Segment {
  uint32_t first, last;
  int32_t rows = 1;
};
inline bool operator==(const Segment& a, const Segment& b) { return a.first == b.first && a.last == b.last && a.rows == b.rows; }

// The window that input 0 is seen through; nothing for operators without one.
std::optional<ops::Window> window_of(const Plan& plan, const Step& step);

// The input rows that output rows [b, e) depend on: [b * stride - pad, (e - 1) * stride - pad + extent).
struct RowNeed {
  int32_t stride = 1, pad = 0, extent = 1;
};
// Nothing when the operand is not read row by row.
std::optional<RowNeed> row_need(const Plan& plan, const Step& step, const OpDef& def, size_t input);

// True when the step may be part of a strip at all.
bool works_by_rows(const Plan& plan, const OpRegistry& ops, const Step& step);

// Puts strips around the segments, which are in order and do not overlap; false when one cannot be a strip. `origins`, where not null,
// gives for each step of the result its number before.
bool make_strips(Plan& plan, const OpRegistry& ops, const std::vector<Segment>& segments, std::vector<uint32_t>* origins);

}  // namespace mote::schedule
