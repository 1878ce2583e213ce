// Element-wise nodes behind the reshape of a product are moved in front of it, where they can become part of the product: 1-D
// convolutions are often written as 2-D ones with a squeeze.

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/linear.h"
#include "mote/ops/batch_norm/batch_norm.h"

namespace mote::passes {
namespace {

// The operand that is the tensor, when the rest are numbers or one number for each channel.
std::optional<size_t> tensor_operand(const Node& n) {
  const Type& y = n.outputs[0]->type;
  const auto between = [&](OpId first, OpId last) { return n.op >= static_cast<uint16_t>(first) && n.op <= static_cast<uint16_t>(last); };
  if (n.is(OpId::batch_norm))
    return axis_of(n.attributes<ops::batch_norm::Attrs>().axis, y.rank()) == y.rank() - 1 ? std::optional<size_t>(0) : std::nullopt;
  if (between(OpId::sqrt, OpId::threshold) && n.inputs.size() == 1) return 0;
  if (!n.is(OpId::add) && !n.is(OpId::sub) && !n.is(OpId::mul) && !n.is(OpId::div)) return {};
  const size_t at = n.inputs[0]->is_constant() ? 1 : 0;
  const Value* c = n.inputs[1 - at];
  return c->is_constant() && n.inputs[at]->type == y && !per_channel(c, y).empty() ? std::optional(at) : std::nullopt;
}

bool lift(Graph& graph, Node& n) {
  if (!n.is_operator() || n.outputs.size() != 1 || !is_float(*n.outputs[0])) return false;
  const std::optional<size_t> at = tensor_operand(n);
  const Node* reshape = at ? absorbable(n.inputs[*at], OpId::reshape, n) : nullptr;
  if (reshape == nullptr || reshape->inputs.size() != 1 || linear_for(reshape->inputs[0], *reshape) == nullptr) return false;
  Value* x = reshape->inputs[0];
  const Type &from = x->type, &to = n.outputs[0]->type;
  if (from.rank() == 0 || to.rank() == 0 || from.dims.back() != to.dims.back()) return false;
  if ((from.dynamic >> (from.rank() - 1) & 1) != 0 || !reshape_dims(to)) return false;
  std::vector<Value*> inputs = n.inputs;
  inputs[*at] = x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // A constant of more axes than x would make them axes of the result.
    if (i == *at || n.is(OpId::batch_norm) || is_scalar(*inputs[i])) continue;
    inputs[i] = graph.add_constant(inputs[i]->type.dtype, {to.dims.back()}, inputs[i]->data, inputs[i]->name);
  }
  std::vector<uint8_t> attrs = n.attrs;
  if (n.is(OpId::batch_norm)) {
    auto a = n.attributes<ops::batch_norm::Attrs>();
    a.axis = -1;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&a);
    attrs.assign(bytes, bytes + sizeof a);
  }
  Node* made = graph.add_node(*n.block, n.op, attrs.data(), attrs.size(), inputs, 1, n.name, &n);
  std::string ignored;
  if (!ir::infer(*made, &ignored) || made->outputs[0]->type != from) {
    graph.erase(made);
    return false;
  }
  if (replace_by(graph, n, reshape_to(graph, made->outputs[0], to, reshape->name, &n))) return true;
  erase_unused(graph, made);
  return false;
}

}  // namespace

bool lift_elements(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return lift(graph, n); });
}

}  // namespace mote::passes
