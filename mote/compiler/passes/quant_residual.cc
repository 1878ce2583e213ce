// q_conv -> q_add as one operator: the sum is made where the residual lies, and the convolution's own result needs no memory.

#include <utility>

#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/q_add/q_add.h"
#include "mote/ops/q_conv/q_conv.h"

namespace mote::passes {
namespace {

bool fuse_residual(Graph& graph, Node& n) {
  if (!n.is(OpId::q_add)) return false;
  for (size_t side = 0; side < 2; ++side) {
    Node* conv = absorbable(n.inputs[side], OpId::q_conv, n);
    Value* other = n.inputs[1 - side];
    if (conv == nullptr || conv->input(ops::q_conv::kResidual) != nullptr || !reads_no_state(*conv)) continue;
    if (other->kind == ir::ValueKind::kState || other->type != n.inputs[side]->type || other->type != n.outputs[0]->type) continue;
    if (!other->type.is_static()) continue;
    auto sum = n.attributes<ops::q_add::Attrs>();
    if (side == 1) {
      std::swap(sum.a_zero, sum.b_zero);
      std::swap(sum.a_multiplier, sum.b_multiplier);
      std::swap(sum.a_shift, sum.b_shift);
      std::swap(sum.a_scale, sum.b_scale);
    }
    auto attrs = conv->attributes<ops::q_conv::Attrs>();
    ops::q_conv::set_sum_attrs(attrs, sum);
    std::vector<Value*> inputs = conv->inputs;
    inputs.resize(ops::q_conv::kResidual + 1);
    inputs[ops::q_conv::kResidual] = other;
    NodeBuilder build(graph, *n.block, joined_name(conv->name, n.name), &n);
    if (replace_by(graph, n, build.op(OpId::q_conv, attrs, inputs))) return true;
  }
  return false;
}

}  // namespace

bool quant_residual(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return fuse_residual(graph, n); });
}

}  // namespace mote::passes
