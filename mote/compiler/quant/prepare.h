#pragma once

// A fused float graph in the form that integer operators have: sums, and activations that do more than cut off, stand apart from
// their products.

#include "mote/compiler/passes/linear.h"

namespace mote::quant {

// A product that can compute with 8-bit weights: f32, constant weights, a constant bias or none.
bool can_be_integer(const ir::Node& node);

// Works on the methods' own blocks: what control flow repeats stays as it is.
void prepare(ir::Graph& graph);

}  // namespace mote::quant
