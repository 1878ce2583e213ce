#pragma once

// What passes share: walks over nodes, replacing values, reading operands.

#include <optional>
#include <string>
#include <vector>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/graph.h"
#include "mote/compiler/passes/pass.h"

namespace mote::passes {

using ir::Block;
using ir::Dims;
using ir::Graph;
using ir::Node;
using ir::NodeBuilder;
using ir::Type;
using ir::Value;

// A pass: true when it changed the graph.
using PassFn = bool (*)(Graph& graph, const PassOptions& options);

// Calls f(Block&) for every block, inner ones after the block around them.
template <class F>
void each_block(Block& block, const F& f) {
  f(block);
  for (const auto& n : block.nodes)
    for (const auto& b : n->blocks) each_block(*b, f);
}
template <class F>
void each_block(Graph& graph, const F& f) {
  for (ir::Method& m : graph.methods) each_block(*m.block, f);
}

// Calls f(Node&) for every node, in order. f may erase the node and any before it, and add nodes before it. True when any f was true.
template <class F>
bool each_node(Block& block, const F& f) {
  bool changed = false;
  for (auto it = block.nodes.begin(); it != block.nodes.end();) {
    Node& n = **it++;
    for (const auto& b : n.blocks) changed |= each_node(*b, f);
    changed |= f(n);
  }
  return changed;
}
template <class F>
bool each_node(Graph& graph, const F& f) {
  bool changed = false;
  for (ir::Method& m : graph.methods) changed |= each_node(*m.block, f);
  return changed;
}

// Names of source nodes, as a fused node keeps them: "Conv_3+Relu_4".
std::string joined_name(const std::string& a, const std::string& b);

// Erases a node that nobody uses and, with it, those that only served it.
void erase_unused(Graph& graph, Node* node);

// Puts `with` in place of a node's only (or first) output and erases the node. False, and nothing done, when the types differ or
// reading `with` later would not be the same (states).
bool replace(Graph& graph, Node* node, Value* with);

// The same for a node that was just made for this; it goes again when it cannot be used. Null is no success.
bool replace_by(Graph& graph, Node& node, Value* made);

// Infers all types again, after values have become better known. What was sound before stays so; verifying finds defects.
void refresh_types(Graph& graph);

// The node that makes a value when it is of this operator; null otherwise.
inline Node* made_by(const Value* v, OpId id) {
  return v != nullptr && v->producer != nullptr && v->producer->is(id) ? v->producer : nullptr;
}
// The same, and the value has no other use than one by a node of the same block, so the maker may be changed or absorbed.
Node* absorbable(const Value* v, OpId id, const Node& user);

// A node whose operands may be read later than where it stands: none is a state.
bool reads_no_state(const Node& node);

inline bool is_float(const Value& v) { return (mask_of(v.type.dtype) & kFloat) != 0; }
inline bool is_scalar(const Value& v) { return v.type.is_static() && v.type.count() == 1; }

// The elements of a constant, as double; empty when it is none or has more than `most` elements.
std::vector<double> constant_numbers(const Value* v, int64_t most = 1 << 26);
// The one number that all elements of a constant are.
std::optional<double> splat(const Value* v);
// A constant of a float type, rounded to it.
Value* float_constant(Graph& graph, DType dtype, const Dims& dims, const std::vector<double>& values, const std::string& name = "");

// A negative axis counted from the end; -1 when out of range.
inline int axis_of(int64_t axis, int rank) { return axis >= -rank && axis < rank ? static_cast<int>(axis < 0 ? axis + rank : axis) : -1; }

// The permutation of a transpose node, without negative axes.
Dims permutation(const Node& transpose);
Dims inverse(const Dims& perm);

// Sizes for reshape that give the type: with at most one dynamic dimension, as -1. None when it cannot be said so.
std::optional<Dims> reshape_dims(const Type& type);
// A reshape in front of `before`, to the sizes of a type; null when reshape_dims has none.
Value* reshape_to(Graph& graph, Value* x, const Type& type, const std::string& name, Node* before);

}  // namespace mote::passes
