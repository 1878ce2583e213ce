#include "mote/compiler/quant/dynamic.h"

#include <algorithm>

#include "mote/compiler/quant/prepare.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::quant {
namespace {

using ir::Dims;
using ir::Graph;
using ir::Node;
using ir::NodeBuilder;
using ir::Value;

// Between the attributes of conv and q_conv.
template <class From, class To>
void copy_window(const From& from, To* to) {
  std::copy(from.strides, from.strides + 3, to->strides);
  std::copy(from.dilations, from.dilations + 3, to->dilations);
  std::copy(from.pads_begin, from.pads_begin + 3, to->pads_begin);
  std::copy(from.pads_end, from.pads_end + 3, to->pads_end);
  to->groups = from.groups;
}

// The dequantized weights, without the scale of x.
Value* real_weights(Graph& graph, const Node& n, int32_t weight_zero) {
  const Value *w = n.inputs[1], *m = n.input(ops::kEpilogueMultiplier), *zeros = n.input(ops::kEpilogueWZero);
  if (!w->is_constant() || w->layout != Layout::kPlain || zeros != nullptr || m == nullptr || !m->is_constant()) return nullptr;
  std::vector<double> numbers = passes::constant_numbers(w);
  const std::vector<double> factors = passes::constant_numbers(m);
  const size_t rows = static_cast<size_t>(w->type.dims[0]), columns = numbers.size() / std::max<size_t>(1, rows);
  if (numbers.empty() || (factors.size() != 1 && factors.size() != rows)) return nullptr;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = (numbers[i] - weight_zero) * factors[factors.size() == 1 ? 0 : i / columns];
  return passes::float_constant(graph, DType::f32, w->type.dims, numbers, w->name);
}

void undo(Graph& graph, Node& n, DynamicForms* forms) {
  if ((!n.is(OpId::q_conv) && !n.is(OpId::q_matmul)) || n.outputs[0]->type.dtype != DType::f32) return;
  const Node* d = passes::made_by(n.inputs[0], OpId::dynamic_quantize);
  const Value *scale = n.input(ops::kEpilogueXScale), *zero = n.input(ops::kEpilogueXZero);
  if (d == nullptr || n.inputs[0] != d->outputs[0] || scale == nullptr || scale != d->output(1)) return;
  if ((zero != nullptr && zero != d->output(2)) || !passes::reads_no_state(*d)) return;
  ir::NodeBuilder b(graph, *n.block, n.name, &n);
  std::vector<Value*> inputs = {d->inputs[0], nullptr};
  if (n.input(ops::kEpilogueBias) != nullptr) inputs.push_back(n.inputs[ops::kEpilogueBias]);
  Value* made = nullptr;
  if (n.is(OpId::q_conv)) {
    const auto q = n.attributes<ops::q_conv::Attrs>();
    ops::conv::Attrs a;
    copy_window(q, &a);
    inputs[1] = real_weights(graph, n, q.weight_zero);
    if (inputs[1] != nullptr) made = b.op(OpId::conv, a, inputs);
  } else if (n.inputs[1]->type.rank() == 2) {
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    inputs[1] = real_weights(graph, n, n.attributes<ops::q_matmul::Attrs>().weight_zero);
    if (inputs[1] != nullptr) made = b.op(OpId::matmul, a, inputs);
  }
  if (made == nullptr) return;
  made->name = n.outputs[0]->name;
  if (!n.name.empty()) (*forms)[n.name] = {d->attributes<ops::dynamic_quantize::Attrs>(), zero != nullptr};
  passes::replace_by(graph, n, made);
}

ops::q_conv::Attrs integer_window(const ops::conv::Attrs& f) {
  ops::q_conv::Attrs q;
  copy_window(f, &q);
  q.to = static_cast<uint32_t>(DType::f32);
  return q;
}

bool can_be_dynamic(const Node& n) {
  return n.is(OpId::conv) || (n.is(OpId::matmul) && n.attributes<ops::matmul::Attrs>().transpose_a == 0);
}

}  // namespace

bool dynamic_form(const ir::Node& n, DynamicForm* out) {
  // A depthwise convolution does so little arithmetic that finding the range of its input costs more than int8 saves.
  if (!can_be_dynamic(n) || (n.is(OpId::conv) && n.attributes<ops::conv::Attrs>().groups != 1)) return false;
  *out = {};
  out->how.mode = static_cast<uint32_t>(ops::dynamic_quantize::Mode::kAsymmetric);
  out->how.axis = n.is(OpId::matmul) ? n.inputs[0]->type.rank() - 1 : 1;
  return true;
}

bool write_dynamic(ir::Graph& graph, ir::Node& n, const DynamicForm& form, const QuantWeights& q, DynamicInputs* inputs,
                   std::string* error) {
  if (!can_be_dynamic(n)) return false;
  Value* x = n.inputs[0];
  NodeBuilder b(graph, *n.block, n.name, &n);
  std::vector<Value*>& numbers = (*inputs)[{x, form.how.mode, form.how.axis}];
  if (numbers.empty()) numbers = b.ops(OpId::dynamic_quantize, form.how, {x}, 3);
  if (numbers.size() != 3 || numbers[0]->producer->block != n.block) return false;
  const auto channels = static_cast<int32_t>(q.scales.size());
  const ir::Type& w = n.inputs[passes::kWeights]->type;
  const Dims dims = n.is(OpId::matmul) ? Dims{channels, static_cast<int32_t>(w.count() / std::max(1, channels))} : w.dims;
  std::vector<Value*> operands(8, nullptr);
  operands[0] = numbers[0];
  operands[1] = graph.constant<int8_t>(dims, q.codes, n.inputs[passes::kWeights]->name);
  operands[ops::kEpilogueBias] = passes::float_constant(graph, DType::f32, {channels}, passes::bias_of(n));
  operands[ops::kEpilogueMultiplier] = graph.constant<float>({channels}, q.scales);
  if (form.zero_points) operands[ops::kEpilogueXZero] = numbers[2];
  operands[ops::kEpilogueXScale] = numbers[1];
  ops::q_matmul::Attrs matrix;
  matrix.to = static_cast<uint32_t>(DType::f32);
  Value* y = n.is(OpId::matmul) ? b.op(OpId::q_matmul, matrix, operands)
                                : b.op(OpId::q_conv, integer_window(n.attributes<ops::conv::Attrs>()), operands);
  // In the methods' own blocks prepare() has split these off.
  if (y != nullptr && n.input(passes::kResidual) != nullptr) y = b.op(OpId::add, {y, n.inputs[passes::kResidual]});
  if (y != nullptr) y = activate(b, passes::activation_of(n), y);
  if (y == nullptr) *error = "quantizing dynamically: " + b.error();
  else y->name = n.outputs[0]->name;
  return passes::replace_by(graph, n, y);
}

DynamicForms undo_dynamic(ir::Graph& graph) {
  DynamicForms forms;
  bool changed = false;
  for (ir::Method& m : graph.methods) {
    for (auto it = m.block->nodes.begin(); it != m.block->nodes.end();) {
      Node& n = **it++;
      const size_t before = m.block->nodes.size();
      if (n.is_operator()) undo(graph, n, &forms);
      changed |= m.block->nodes.size() != before;
    }
  }
  if (changed) passes::run_pass("fuse_activation", graph);
  return forms;
}

}  // namespace mote::quant
