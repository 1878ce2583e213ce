#include "mote/compiler/quant/expose.h"

#include <algorithm>

#include "mote/compiler/ir/builder.h"
#include "mote/compiler/passes/linear.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/split/split.h"

namespace mote::quant {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeBuilder;
using ir::Value;

constexpr size_t kBias = 3, kLengths = 4, kHidden = 5, kCell = 6;  // operands of lstm

bool is_float_constant(const Value* v) { return v != nullptr && v->is_constant() && v->type.dtype == DType::f32; }

bool is_single_step(const Node& n) {
  if (!n.is(OpId::lstm) || !passes::reads_no_state(n)) return false;
  const auto a = n.attributes<ops::lstm::Attrs>();
  const ops::lstm::Attrs usual;
  const ir::Type& x = n.inputs[0]->type;
  if (x.dtype != DType::f32 || !x.is_static() || x.dims[a.layout != 0 ? 1 : 0] != 1) return false;
  if (a.direction != 0 || a.input_forget != 0 || a.clip != 0 || a.cell_clip != 0) return false;
  if (!std::equal(a.activations, a.activations + 3, usual.activations)) return false;
  if (!is_float_constant(n.inputs[1]) || !is_float_constant(n.inputs[2])) return false;
  if (n.input(kBias) != nullptr && !is_float_constant(n.input(kBias))) return false;
  if (n.input(kHidden) == nullptr || n.input(kCell) == nullptr) return false;  // initial states of zero: not one step of a stream
  for (size_t i = kLengths; i < n.inputs.size(); ++i)
    if (n.inputs[i] != nullptr && i != kHidden && i != kCell) return false;
  return true;
}

// The first half of the biases is for the input, the second for the state.
Value* summed_bias(Graph& graph, const Node& n, int32_t gates) {
  if (n.input(kBias) == nullptr) return nullptr;
  const std::vector<double> b = passes::constant_numbers(n.inputs[kBias]);
  std::vector<float> sum;
  for (size_t i = 0; i < static_cast<size_t>(gates); ++i)
    sum.push_back(static_cast<float>(b[i]) + static_cast<float>(b[i + static_cast<size_t>(gates)]));
  return graph.constant<float>({gates}, sum);
}

bool open_step(Graph& graph, Node& n) {
  if (!is_single_step(n)) return false;
  const ir::Type &x = n.inputs[0]->type, &w = n.inputs[1]->type, &r = n.inputs[2]->type;
  const int32_t gates = w.dims[1], hidden = r.dims[2], inputs = w.dims[2], batch = static_cast<int32_t>(x.count() / inputs);
  const auto matrix = [&](const Value* v, int32_t columns) { return graph.add_constant(DType::f32, {gates, columns}, v->data, v->name); };
  NodeBuilder b(graph, *n.block, n.name, &n);
  ops::matmul::Attrs rows_first;
  rows_first.transpose_b = 1;
  Value* sum =
      b.op(OpId::matmul, rows_first, {b.reshape(n.inputs[0], {batch, inputs}), matrix(n.inputs[1], inputs), summed_bias(graph, n, gates)});
  sum = b.op(OpId::matmul, rows_first, {b.reshape(n.inputs[kHidden], {batch, hidden}), matrix(n.inputs[2], hidden), nullptr, sum});
  ops::split::Attrs columns;
  columns.axis = 1;
  const std::vector<Value*> part = b.ops(OpId::split, columns, {sum}, 4);  // input, output, forget, cell
  if (part.size() != 4) return false;
  Value* kept = b.op(OpId::mul, {b.op(OpId::sigmoid, {part[2]}), b.reshape(n.inputs[kCell], {batch, hidden})});
  Value* cell = b.op(OpId::add, {kept, b.op(OpId::mul, {b.op(OpId::sigmoid, {part[0]}), b.op(OpId::tanh, {part[3]})})});
  Value* out = b.op(OpId::mul, {b.op(OpId::sigmoid, {part[1]}), b.op(OpId::tanh, {cell})});
  for (size_t i = 0; i < n.outputs.size() && b.ok(); ++i) {
    if (n.outputs[i] == nullptr) continue;
    Value* made = b.reshape(i == 2 ? cell : out, n.outputs[i]->type.dims);
    if (made != nullptr) graph.replace_uses(n.outputs[i], made);
  }
  return b.ok();
}

}  // namespace

void widen_constants(Graph& graph) {
  passes::each_node(graph, [&](Node& n) {
    if (!passes::is_linear(n) || n.inputs[0]->type.dtype != DType::f32) return false;
    const Node* cast = passes::made_by(n.input(passes::kWeights), OpId::cast);
    if (cast == nullptr || !cast->inputs[0]->is_constant() || cast->inputs[0]->layout != Layout::kPlain) return false;
    const Value* small = cast->inputs[0];
    if ((small->type.dtype != DType::f16 && small->type.dtype != DType::bf16) || cast->outputs[0]->type.dtype != DType::f32) return false;
    graph.set_input(&n, passes::kWeights,
                    passes::float_constant(graph, DType::f32, small->type.dims, passes::constant_numbers(small), small->name));
    return true;
  });
}

void open_single_steps(Graph& graph) {
  passes::each_node(graph, [&](Node& n) { return n.is_operator() && open_step(graph, n); });
}

}  // namespace mote::quant
