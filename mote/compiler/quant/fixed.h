#pragma once

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Integer operators that scale with f32 factors scale with TFLite's multipliers and shifts instead: no floating point is left between
// 8-bit tensors. (Average pools whose scale changes keep theirs: TFLite has no such operator.)
// all: else only in products of elements, which that makes faster on every processor.
void use_fixed_point(ir::Graph& graph, bool all);

}  // namespace mote::quant
