#include "mote/compiler/frontends/tflite/recurrent.h"

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/ops/dynamic_quantize/dynamic_quantize.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_matmul/q_matmul.h"
#include "mote/ops/reverse/reverse.h"

namespace mote::frontends::tflite {
namespace {

Value* reversed(Op& op, Value* x) {
  ops::reverse::Attrs a;
  a.count = 1;
  return op.b.op(OpId::reverse, a, {x});
}

// The steps as a loop whose trips index x.
Value* loop(Op& op, Value* x, const States& first, const Step& step, States* last) {
  ir::Graph& g = op.b.graph();
  const int64_t trips = x->type.dims[0];
  std::vector<Value*> in{g.scalar<int64_t>(trips), nullptr};
  in.insert(in.end(), first.begin(), first.end());
  ir::Node* n = g.add_node(op.b.block(), ir::kLoop, nullptr, 0, in, first.size() + 1, op.b.name());
  n->max_trips = trips;
  ir::Block& body = g.add_block(n);
  Value* trip = g.add_argument(body, "", ir::Type{DType::s64, {}, 0});
  Value* go = g.add_argument(body, "", ir::Type{DType::boolean, {}, 0});
  States states;
  for (Value* v : first) states.push_back(g.add_argument(body, "", v->type, v->facts));
  ir::NodeBuilder b(g, body, op.b.name());
  const States next = step(b, b.op(OpId::gather, ops::gather::Attrs{}, {x, trip}), states);
  if (!b.ok() || next.size() != first.size()) {
    op.fail(b.ok() ? "a step failed" : b.error());
    return nullptr;
  }
  g.add_result(body, go);
  for (Value* v : next) g.add_result(body, v);
  g.add_result(body, next[0]);
  std::string error;
  if (!ir::infer(*n, &error)) {
    op.fail(error);
    return nullptr;
  }
  last->assign(n->outputs.begin(), n->outputs.end() - 1);
  return n->outputs.back();
}

}  // namespace

Value* run_steps(Op& op, Value* x, const States& first, bool backward, const Step& step, States* last) {
  if (!op.ok() || x == nullptr) return nullptr;
  for (const Value* v : first)
    if (v == nullptr) op.fail("a state is missing");
  if (x->type.rank() != 3) op.fail("expected an input of 3 dimensions, found " + std::to_string(x->type.rank()));
  if (!op.ok()) return nullptr;
  if (backward) x = reversed(op, x);
  Value* y = nullptr;
  if (x->type.dims[0] == 1 && (x->type.dynamic & 1) == 0) {
    *last = step(op.b, op.b.squeeze(x, {0}), first);
    y = last->empty() ? nullptr : op.b.unsqueeze((*last)[0], {0});
  } else if ((x->type.dynamic & 1) != 0) {
    op.fail("the number of steps must be known when compiling", fix_advice(op, *x));
  } else {
    y = loop(op, x, first, step, last);
  }
  return backward && y != nullptr ? reversed(op, y) : y;
}

void keep_state(Op& op, uint32_t input, Value* state, Value* next) {
  if (!op.ok() || state == nullptr || next == nullptr || !op.in(input).variable || state->kind != ir::ValueKind::kState) return;
  if (next->type.dynamic != 0) return op.fail("a state keeps its shape, and the one it becomes is open", fix_advice(op, *next));
  if (next->type.dims != state->type.dims) next = op.b.reshape(next, state->type.dims);
  if (next == nullptr) return;
  ir::Node* n = op.b.graph().add_node(op.b.block(), ir::kAssign, nullptr, 0, {state, next}, 0, op.b.name());
  std::string error;
  if (!ir::infer(*n, &error)) op.fail(error);
}

Value* dense(Op& op, ir::NodeBuilder& b, Value* x, uint32_t weights, Value* bias, bool asymmetric) {
  Value* w = op.value(weights);
  if (w == nullptr || x == nullptr) return nullptr;
  if (w->type.dtype == DType::f32) {
    ops::matmul::Attrs a;
    a.transpose_b = 1;
    return b.op(OpId::matmul, a, {x, w, bias});
  }
  ops::dynamic_quantize::Attrs d;
  d.mode = static_cast<uint32_t>(asymmetric ? ops::dynamic_quantize::Mode::kAsymmetric : ops::dynamic_quantize::Mode::kSymmetric);
  d.axis = -1;
  const std::vector<Value*> q = b.ops(OpId::dynamic_quantize, d, {x}, 3);
  if (q.empty()) return nullptr;
  ops::q_matmul::Attrs a;
  a.to = static_cast<uint32_t>(DType::f32);
  return b.op(OpId::q_matmul, a, {q[0], w, bias, filter_scales(op, op.in(weights)), nullptr, asymmetric ? q[2] : nullptr, nullptr, q[1]});
}

bool need_gates(Op& op, const LstmInputs& i) {
  std::vector<uint32_t> list{i.x, i.hidden, i.cell};
  const uint32_t from = op.has(i.input_weights) ? 0 : 1;
  const bool peephole = op.has(i.peepholes + 1), normalized = op.has(i.layer_norm + 1);
  for (uint32_t g = from; g < 4; ++g) {
    for (const uint32_t first : {i.input_weights, i.recurrent_weights, i.biases}) list.push_back(first + g);
    if (normalized) list.push_back(i.layer_norm + g);
    if (peephole && g < 3) list.push_back(i.peepholes + g);
  }
  return op.need(list);
}

Value* time_first(Op& op, Value* x, bool time_major) { return time_major ? x : op.b.transpose(x, {1, 0, 2}); }

}  // namespace mote::frontends::tflite
