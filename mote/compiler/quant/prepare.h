#pragma once

// Brings a fused float graph into the form of integer operators: residual additions, and activations other than clamps, become nodes of
// their own again.

#include <algorithm>
#include <set>

#include "mote/compiler/passes/linear.h"
#include "mote/compiler/quant/dynamic.h"

namespace mote::quant {

// A product that can compute with 8-bit weights: f32, constant weights, a constant bias or none.
bool can_be_integer(const ir::Node& node);

// The one of these (a set or map of names) that a node is. A fused node has the names of all it was made of: "Conv_3+Relu_4".
template <class Names>
auto named_in(const Names& names, const std::string& node) {
  for (size_t at = 0; at <= node.size();) {
    const size_t end = std::min(node.find('+', at), node.size());
    if (const auto it = names.find(node.substr(at, end - at)); it != names.end()) return it;
    at = end + 1;
  }
  return names.find(node);
}
inline bool is_named(const std::set<std::string>& names, const std::string& node) { return named_in(names, node) != names.end(); }

// An activation as a node of its own; x itself where there is none.
ir::Value* activate(ir::NodeBuilder& b, const passes::Activation& activation, ir::Value* x);

// Works on the top-level blocks of methods, not inside control flow. Returns the result of undo_dynamic().
DynamicForms prepare(ir::Graph& graph);

}  // namespace mote::quant
