#include "mote/compiler/quant/dynamic.h"

#include <algorithm>

#include "mote/compiler/passes/linear.h"
#include "mote/ops/common/quant_stage.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::quant {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// What the weights stand for, without the scale of x.
Value* real_weights(Graph& graph, const Node& n, int32_t weight_zero) {
  const Value *w = n.inputs[1], *m = n.input(ops::kStageMultiplier), *zeros = n.input(ops::kStageWZero);
  if (!w->is_constant() || w->layout != Layout::kPlain || zeros != nullptr || m == nullptr || !m->is_constant()) return nullptr;
  std::vector<double> numbers = passes::constant_numbers(w);
  const std::vector<double> factors = passes::constant_numbers(m);
  const size_t rows = static_cast<size_t>(w->type.dims[0]), columns = numbers.size() / std::max<size_t>(1, rows);
  if (numbers.empty() || (factors.size() != 1 && factors.size() != rows)) return nullptr;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = (numbers[i] - weight_zero) * factors[factors.size() == 1 ? 0 : i / columns];
  return passes::float_constant(graph, DType::f32, w->type.dims, numbers, w->name);
}

void undo(Graph& graph, Node& n) {
  if ((!n.is(OpId::q_conv) && !n.is(OpId::q_matmul)) || n.outputs[0]->type.dtype != DType::f32) return;
  const Node* d = passes::made_by(n.inputs[0], OpId::dynamic_quantize);
  const Value *scale = n.input(ops::kStageXScale), *zero = n.input(ops::kStageXZero);
  if (d == nullptr || n.inputs[0] != d->outputs[0] || scale == nullptr || scale != d->output(1)) return;
  if ((zero != nullptr && zero != d->output(2)) || !passes::reads_no_state(*d)) return;
  ir::NodeBuilder b(graph, *n.block, n.name, &n);
  std::vector<Value*> inputs = {d->inputs[0], nullptr};
  if (n.input(ops::kStageBias) != nullptr) inputs.push_back(n.inputs[ops::kStageBias]);
  Value* made = nullptr;
  if (n.is(OpId::q_conv)) {
    const auto q = n.attributes<ops::q_conv::Attrs>();
    ops::conv::Attrs a;
    std::copy(q.strides, q.strides + 3, a.strides);
    std::copy(q.dilations, q.dilations + 3, a.dilations);
    std::copy(q.pads_begin, q.pads_begin + 3, a.pads_begin);
    std::copy(q.pads_end, q.pads_end + 3, a.pads_end);
    a.groups = q.groups;
    inputs[1] = real_weights(graph, n, q.weight_zero);
    if (inputs[1] != nullptr) made = b.op(OpId::conv, a, inputs);
  } else if (n.inputs[1]->type.rank() == 2) {
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    inputs[1] = real_weights(graph, n, n.attributes<ops::q_matmul::Attrs>().weight_zero);
    if (inputs[1] != nullptr) made = b.op(OpId::matmul, a, inputs);
  }
  if (made != nullptr) made->name = n.outputs[0]->name;
  passes::replace_by(graph, n, made);
}

}  // namespace

void undo_dynamic(ir::Graph& graph) {
  bool changed = false;
  for (ir::Method& m : graph.methods) {
    for (auto it = m.block->nodes.begin(); it != m.block->nodes.end();) {
      Node& n = **it++;
      const size_t before = m.block->nodes.size();
      if (n.is_operator()) undo(graph, n);
      changed |= m.block->nodes.size() != before;
    }
  }
  if (changed) passes::run_pass("fuse_activation", graph);
}

}  // namespace mote::quant
