#pragma once

// A fused float graph in the form that integer operators have: sums, and activations that do more than cut off, stand apart from
// their products.

#include <set>

#include "mote/compiler/passes/linear.h"

namespace mote::quant {

// A product that can compute with 8-bit weights: f32, constant weights, a constant bias or none.
bool can_be_integer(const ir::Node& node);

// True when a node is one of these. A fused node has the names of all it was made of: "Conv_3+Relu_4".
bool is_named(const std::set<std::string>& names, const std::string& node);

// An activation as a node of its own; x itself where there is none.
ir::Value* activate(ir::NodeBuilder& b, const passes::Activation& activation, ir::Value* x);

// Works on the methods' own blocks: what control flow repeats stays as it is.
void prepare(ir::Graph& graph);

}  // namespace mote::quant
