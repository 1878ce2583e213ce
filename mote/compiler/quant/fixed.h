#pragma once

#include "mote/compiler/ir/graph.h"

namespace mote::quant {

// Integer operators that requantize with f32 factors get TFLite's multipliers and shifts instead, so that no floating point remains between
// 8-bit tensors. (Average pools whose scale changes keep theirs: TFLite has no such operator.)
// all: false for element-wise products alone, which that makes faster on every processor.
void use_fixed_point(ir::Graph& graph, bool all);

}  // namespace mote::quant
