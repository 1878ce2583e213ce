#include "mote/compiler/quant/prepare.h"

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/quant/expose.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/matmul/matmul.h"

namespace mote::quant {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeBuilder;
using ir::Value;
using Kind = ops::Activation;

bool only_cuts_off(uint32_t kind) {
  const auto k = static_cast<Kind>(kind);
  return k == Kind::kNone || k == Kind::kRelu || k == Kind::kRelu6 || k == Kind::kClamp;
}

bool split(Graph& graph, Node& n) {
  if (!can_be_integer(n)) return false;
  const passes::Activation act = passes::activation_of(n);
  Value* residual = n.input(passes::kResidual);
  if (residual == nullptr && only_cuts_off(act.kind)) return false;
  std::vector<Value*> inputs = n.inputs;
  inputs.resize(std::min<size_t>(inputs.size(), passes::kResidual));
  while (inputs.back() == nullptr) inputs.pop_back();
  Node* plain = graph.add_node(*n.block, n.op, n.attrs.data(), n.attrs.size(), inputs, 1, n.name, &n);
  passes::set_activation(*plain, {});
  NodeBuilder b(graph, *n.block, n.name, &n);
  std::string why;
  if (!ir::infer(*plain, &why)) return false;
  Value* y = residual == nullptr ? plain->outputs[0] : b.op(OpId::add, {plain->outputs[0], residual});
  y = y == nullptr ? nullptr : activate(b, act, y);
  if (y != nullptr) y->name = n.outputs[0]->name;
  return passes::replace_by(graph, n, y);
}

}  // namespace

ir::Value* activate(NodeBuilder& b, const passes::Activation& act, Value* x) {
  switch (static_cast<Kind>(act.kind)) {
    case Kind::kNone: return x;
    case Kind::kClamp:
    case Kind::kRelu6: {
      ops::clip::Attrs a;
      a.lo = act.kind == static_cast<uint32_t>(Kind::kClamp) ? act.a : 0;
      a.hi = act.kind == static_cast<uint32_t>(Kind::kClamp) ? act.b : 6;
      return b.op(OpId::clip, a, {x});
    }
    case Kind::kLeaky: {
      ops::leaky_relu::Attrs a;
      a.negative_slope = act.a;
      return b.op(OpId::leaky_relu, a, {x});
    }
    case Kind::kHardSigmoid: {
      ops::hard_sigmoid::Attrs a;
      a.alpha = act.a;
      a.beta = act.b;
      return b.op(OpId::hard_sigmoid, a, {x});
    }
    case Kind::kElu: {
      ops::elu::Attrs a;
      a.alpha = act.a;
      return b.op(OpId::elu, a, {x});
    }
    case Kind::kGelu:
    case Kind::kGeluTanh: {
      ops::gelu::Attrs a;
      a.approximate = act.kind == static_cast<uint32_t>(Kind::kGeluTanh) ? 1 : 0;
      return b.op(OpId::gelu, a, {x});
    }
    case Kind::kRelu: return b.op(OpId::relu, {x});
    case Kind::kSigmoid: return b.op(OpId::sigmoid, {x});
    case Kind::kTanh: return b.op(OpId::tanh, {x});
    case Kind::kSilu: return b.op(OpId::silu, {x});
    case Kind::kHardSwish: return b.op(OpId::hard_swish, {x});
    case Kind::kSoftplus: return b.op(OpId::softplus, {x});
    case Kind::kMish: return b.op(OpId::mish, {x});
  }
  return nullptr;
}

bool can_be_integer(const ir::Node& n) {
  if (!passes::is_linear(n) || n.outputs[0]->type.dtype != DType::f32 || n.input(passes::kScales) != nullptr) return false;
  const Value* w = n.input(passes::kWeights);
  if (w == nullptr || !w->is_constant() || w->type.dtype != DType::f32 || w->layout != Layout::kPlain || w->type.count() == 0) return false;
  if (n.inputs[0]->is_constant() || !passes::reads_no_state(n)) return false;
  if (n.is(OpId::matmul) && (w->type.rank() != 2 || n.attributes<ops::matmul::Attrs>().alpha != 1)) return false;
  return n.input(passes::kBias) == nullptr || !passes::bias_of(n).empty();
}

DynamicForms prepare(ir::Graph& graph) {
  widen_constants(graph);
  DynamicForms forms = undo_dynamic(graph);
  for (ir::Method& m : graph.methods) {
    for (auto it = m.block->nodes.begin(); it != m.block->nodes.end();) {
      Node& n = **it++;
      split(graph, n);
    }
  }
  return forms;
}

}  // namespace mote::quant
