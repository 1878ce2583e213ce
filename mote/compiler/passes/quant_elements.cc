// dequantize -> element-wise operator, concat or mean -> quantize as integer operators. The arithmetic stays the same: sums, products and
// means keep their f32 scales, and whatever has one 8-bit input becomes a table.

#include <algorithm>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/quantized.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_concat/q_concat.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/reduce_mean/reduce_mean.h"

namespace mote::passes {

bool is_function(const Node& n) {
  const auto between = [&](OpId first, OpId last) { return n.op >= static_cast<uint16_t>(first) && n.op <= static_cast<uint16_t>(last); };
  if (!between(OpId::abs, OpId::prelu) || n.outputs.size() != 1) return false;
  int tensors = 0;
  for (const Value* v : n.inputs) {
    const bool number = v == nullptr || (v->is_constant() && is_scalar(*v));
    tensors += number ? 0 : 1;
    if (!number && (v->type != n.outputs[0]->type || v->type.dtype != DType::f32)) return false;
  }
  return tensors == 1;
}

namespace {

// The quantized operand i of a node, when it has the type of the result.
struct Operand {
  Value* x;
  Quant q;
};
std::optional<Operand> operand(const Node& n, size_t i, DType type) {
  const Node* d = dequantized(n.input(i));
  if (d == nullptr) return {};
  const Quant q = *quant_of(*d);
  return q.type == type ? std::optional(Operand{d->inputs[0], q}) : std::nullopt;
}

template <class A>
bool binary(Graph& graph, Node& n, const Stage& s, OpId id) {
  const auto a = operand(*s.op, 0, s.y.type), b = operand(*s.op, 1, s.y.type);
  if (!a || !b) return false;
  A attrs;
  attrs.mode = 1;
  attrs.a_zero = a->q.zero;
  attrs.b_zero = b->q.zero;
  attrs.y_zero = s.y.zero;
  attrs.a_scale = a->q.scale;
  attrs.b_scale = b->q.scale;
  attrs.y_scale = s.y.scale;
  attrs.clamp_lo = s.clamp.lo;
  attrs.clamp_hi = s.clamp.hi;
  NodeBuilder build(graph, *n.block, s.name, &n);
  return replace_by(graph, n, build.op(id, attrs, {a->x, b->x}));
}

bool clamped(const Stage& s) { return s.clamp.lo != INT32_MIN || s.clamp.hi != INT32_MAX; }

bool concat(Graph& graph, Node& n, const Stage& s) {
  std::vector<float> scales;
  std::vector<int32_t> zeros;
  std::vector<Value*> inputs = {nullptr, nullptr};
  for (size_t i = 0; i < s.op->inputs.size(); ++i) {
    const auto x = operand(*s.op, i, s.y.type);
    if (!x) return false;
    scales.push_back(x->q.scale);
    zeros.push_back(x->q.zero);
    inputs.push_back(x->x);
  }
  if (clamped(s)) return false;
  const Dims count = {static_cast<int32_t>(scales.size())};
  inputs[0] = graph.constant<float>(count, scales);
  inputs[1] = graph.constant<int32_t>(count, zeros);
  ops::q_concat::Attrs a;
  a.axis = s.op->attributes<ops::concat::Attrs>().axis;
  a.output_scale = s.y.scale;
  a.output_zero = s.y.zero;
  NodeBuilder build(graph, *n.block, s.name, &n);
  return replace_by(graph, n, build.op(OpId::q_concat, a, inputs));
}

bool avg_pool(Graph& graph, Node& n, const Stage& s) {
  const auto x = operand(*s.op, 0, s.y.type);
  const auto f = s.op->attributes<ops::avg_pool::Attrs>();
  if (!x || f.divisor_override != 0) return false;
  ops::q_avg_pool::Attrs a;
  std::copy(f.kernel, f.kernel + 3, a.kernel);
  std::copy(f.strides, f.strides + 3, a.strides);
  std::copy(f.dilations, f.dilations + 3, a.dilations);
  std::copy(f.pads_begin, f.pads_begin + 3, a.pads_begin);
  std::copy(f.pads_end, f.pads_end + 3, a.pads_end);
  a.ceil_mode = f.ceil_mode;
  a.count_include_pad = f.count_include_pad;
  a.mode = 1;
  a.input_zero = x->q.zero;
  a.output_zero = s.y.zero;
  a.multiplier = x->q.scale / s.y.scale;
  a.clamp_lo = s.clamp.lo;
  a.clamp_hi = s.clamp.hi;
  NodeBuilder build(graph, *n.block, s.name, &n);
  return replace_by(graph, n, build.op(OpId::q_avg_pool, a, {x->x}));
}

bool reduce(Graph& graph, Node& n, const Stage& s, ops::q_reduce::Kind kind) {
  const auto x = operand(*s.op, 0, s.y.type);
  if (!x || s.op->inputs.size() != 1 || clamped(s)) return false;
  const auto f = s.op->attributes<ops::ReduceAttrs>();
  ops::q_reduce::Attrs a;
  std::copy(f.axes, f.axes + 8, a.axes);
  a.axis_count = f.axis_count;
  a.keep_dims = f.keep_dims;
  a.kind = static_cast<uint32_t>(kind);
  a.mode = 1;
  a.input_zero = x->q.zero;
  a.output_zero = s.y.zero;
  a.real_multiplier = x->q.scale / s.y.scale;
  NodeBuilder build(graph, *n.block, s.name, &n);
  return replace_by(graph, n, build.op(OpId::q_reduce, a, {x->x}));
}

// Runs a copy of a chain of functions over all 256 values in a graph of its own. `data` is what the first one reads; of each following one
// it is the result before it: every other operand is a parameter, and constant. (Asking which operands look like parameters is not
// enough: the data may be a constant, too.)
std::optional<ir::Bytes> table_of(const std::vector<const Node*>& chain, const Value* data) {
  Graph g;
  Block& block = *g.add_method("").block;
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  Value* x = g.add_constant(data->type.dtype, {256}, ir::Bytes::own(std::move(all)));
  for (const Node* n : chain) {
    std::vector<Value*> inputs;
    for (const Value* v : n->inputs) {
      if (v != nullptr && v != data && !v->is_constant()) return {};
      inputs.push_back(v == nullptr ? nullptr
                       : v == data  ? x
                                    : g.add_constant(v->type.dtype, is_scalar(*v) ? Dims{} : v->type.dims, v->data));
    }
    Node* m = g.add_node(block, n->op, n->attrs.data(), n->attrs.size(), inputs, 1, "");
    std::string ignored;
    std::vector<ir::Bytes> result;
    if (!ir::infer(*m, &ignored) || m->outputs[0]->type.dims != Dims{256} || !ir::evaluate(*m, &result)) return {};
    x = g.add_constant(m->outputs[0]->type.dtype, {256}, result[0]);
    data = n->outputs[0];
  }
  return x->data;
}

// quantize(f(g(... dequantize(x)))) of 8-bit numbers is a table.
bool table(Graph& graph, Node& n) {
  const std::optional<Quant> y = n.is(OpId::quantize) ? quant_of(n) : std::nullopt;
  if (!y || !is_byte(y->type)) return false;
  std::vector<const Node*> chain = {&n};
  std::string name = n.name;
  const Value* v = n.inputs[0];
  while (dequantized(v) == nullptr) {
    const Node* f = v->producer;
    if (f == nullptr || !f->is_operator() || !is_function(*f) || !v->has_one_use() || f->block != n.block) return false;
    chain.insert(chain.begin(), f);
    name = joined_name(f->name, name);
    const auto x = std::find_if(f->inputs.begin(), f->inputs.end(), [](const Value* i) { return i != nullptr && !i->is_constant(); });
    v = *x;
  }
  const Node* d = dequantized(v);
  if (!is_byte(d->inputs[0]->type.dtype)) return false;
  chain.insert(chain.begin(), d);
  const std::optional<ir::Bytes> bytes = table_of(chain, d->inputs[0]);
  if (!bytes || bytes->size != 256) return false;
  NodeBuilder build(graph, *n.block, name, &n);
  return replace_by(graph, n, build.op(OpId::q_lut, {d->inputs[0], graph.add_constant(y->type, {256}, *bytes)}));
}

bool integer_node(Graph& graph, Node& n) {
  if (!n.is(OpId::quantize)) return false;
  if (const std::optional<Stage> s = stage_of(n)) {
    if (s->op->is(OpId::add) && binary<ops::QuantBinaryAttrs>(graph, n, *s, OpId::q_add)) return true;
    if (s->op->is(OpId::sub) && binary<ops::QuantBinaryAttrs>(graph, n, *s, OpId::q_sub)) return true;
    if (s->op->is(OpId::mul) && binary<ops::q_mul::Attrs>(graph, n, *s, OpId::q_mul)) return true;
    if (s->op->is(OpId::concat) && concat(graph, n, *s)) return true;
    if (s->op->is(OpId::avg_pool) && avg_pool(graph, n, *s)) return true;
    if (s->op->is(OpId::reduce_mean) && reduce(graph, n, *s, ops::q_reduce::Kind::kMean)) return true;
    if (s->op->is(OpId::reduce_sum) && reduce(graph, n, *s, ops::q_reduce::Kind::kSum)) return true;
  }
  return table(graph, n);
}

}  // namespace

bool quant_elements(Graph& graph, const PassOptions&) {
  return each_node(graph, [&](Node& n) { return integer_node(graph, n); });
}

}  // namespace mote::passes
