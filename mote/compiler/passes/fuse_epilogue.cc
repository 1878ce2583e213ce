// Fuses epilogues into convolutions and matrix products: the addition of a residual, and an activation.

#include <cmath>

#include "mote/compiler/passes/linear.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::passes {
namespace {

using Kind = ops::Activation;

// A type's bounds may hide that one operand is broadcast; sizes that agree for all samples do not.
bool same_sizes(const Value& a, const Value& b) {
  if (a.type != b.type || a.facts.size() != b.facts.size()) return false;
  for (size_t s = 0; s < a.facts.size(); ++s)
    if (a.facts[s].dims != b.facts[s].dims) return false;
  return true;
}

bool residual(Graph& graph, Node& n) {
  if (!n.is(OpId::add)) return false;
  for (size_t side = 0; side < 2; ++side) {
    Node* linear = linear_for(n.inputs[side], n);
    Value* other = n.inputs[1 - side];
    if (linear == nullptr || linear->input(kResidual) != nullptr || activation_of(*linear).kind != 0 || !reads_no_state(*linear)) continue;
    if (other == n.inputs[side] || other->kind == ir::ValueKind::kState || !same_sizes(*other, *n.inputs[side])) continue;
    if (n.outputs[0]->type != other->type) continue;
    std::vector<Value*> inputs = linear->inputs;
    inputs.resize(std::max<size_t>(inputs.size(), kResidual + 1));
    inputs[kResidual] = other;
    Node* made = rebuilt(graph, *linear, inputs, n);
    if (made != nullptr) return replace_by(graph, n, made->outputs[0]);
  }
  return false;
}

Activation make(Kind kind, float a = 0, float b = 0) { return {static_cast<uint32_t>(kind), a, b}; }

// The activation a node computes; none when it is another operator. `exact`: only those that give the same bits.
std::optional<Activation> activation_node(const Node& n, bool exact) {
  if (!n.is_operator() || n.inputs.size() != 1) return {};
  switch (static_cast<OpId>(n.op)) {
    case OpId::relu: return make(Kind::kRelu);
    case OpId::clip: {
      const auto a = n.attributes<ops::clip::Attrs>();
      if (a.lo == 0 && a.hi == 6) return make(Kind::kRelu6);
      if (a.lo == 0 && std::isinf(a.hi)) return make(Kind::kRelu);
      return a.lo <= a.hi ? std::optional(make(Kind::kClamp, a.lo, a.hi)) : std::nullopt;
    }
    case OpId::leaky_relu: return make(Kind::kLeaky, n.attributes<ops::leaky_relu::Attrs>().negative_slope);
    default: break;
  }
  if (exact) return {};
  switch (static_cast<OpId>(n.op)) {
    case OpId::sigmoid: return make(Kind::kSigmoid);
    case OpId::tanh: return make(Kind::kTanh);
    case OpId::hard_swish: return make(Kind::kHardSwish);
    case OpId::mish: return make(Kind::kMish);
    case OpId::silu: return n.attributes<ops::silu::Attrs>().alpha == 1 ? std::optional(make(Kind::kSilu)) : std::nullopt;
    case OpId::gelu: return make(n.attributes<ops::gelu::Attrs>().approximate != 0 ? Kind::kGeluTanh : Kind::kGelu);
    case OpId::hard_sigmoid: {
      const auto a = n.attributes<ops::hard_sigmoid::Attrs>();
      return make(Kind::kHardSigmoid, a.alpha, a.beta);
    }
    case OpId::elu: {
      const auto a = n.attributes<ops::elu::Attrs>();
      return a.scale == 1 && a.input_scale == 1 ? std::optional(make(Kind::kElu, a.alpha)) : std::nullopt;
    }
    case OpId::softplus: return n.attributes<ops::softplus::Attrs>().beta == 1 ? std::optional(make(Kind::kSoftplus)) : std::nullopt;
    default: return {};
  }
}

bool activation(Graph& graph, Node& n, const PassOptions& options) {
  const std::optional<Activation> a = activation_node(n, options.exact);
  if (!a) return false;
  Node* linear = linear_for(n.inputs[0], n);
  if (linear == nullptr || activation_of(*linear).kind != 0 || linear->outputs[0]->type != n.outputs[0]->type) return false;
  set_activation(*linear, *a);
  linear->name = joined_name(linear->name, n.name);
  // The fused value takes the name of the last node's result.
  linear->outputs[0]->name = n.outputs[0]->name;
  linear->outputs[0]->quant.reset();
  return replace(graph, &n, linear->outputs[0]);
}

}  // namespace

bool fuse_residual(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return residual(graph, n); });
}

bool fuse_activation(Graph& graph, const PassOptions& options) {
  return each_node(graph, [&](Node& n) { return activation(graph, n, options); });
}

}  // namespace mote::passes
