// Simple recurrent layers, SVDF, and the full-integer LSTM.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/compiler/frontends/tflite/recurrent.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/q_lstm/q_lstm.h"
#include "mote/ops/q_svdf/q_svdf.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/svdf/svdf.h"

namespace mote::frontends::tflite {
namespace {

// h = act(W x + R h + b), step by step. x (time, batch, features).
Value* simple_rnn(Op& op, Value* x, uint32_t weights, const Recurrence& r) {
  const uint32_t hidden = weights + 3;
  if (!op.need({weights, weights + 1, hidden})) return nullptr;
  Value *h = op.value(hidden), *bias = op.value(weights + 2);
  const Step step = [&](ir::NodeBuilder& b, Value* v, const States& s) -> States {
    Value* z = dense(op, b, v, weights, bias, r.asymmetric);
    z = b.op(OpId::add, {z, dense(op, b, s[0], weights + 1, nullptr, r.asymmetric)});
    Op inner(op.importer, op.scope, op.source, b.block(), op.b.name());
    Value* y = activate(inner, z, r.act);
    if (y == nullptr || !b.ok()) return {};
    return {y};
  };
  States last;
  Value* y = run_steps(op, time_first(op, x, r.time_major), {h}, r.backward, step, &last);
  if (y == nullptr) return nullptr;
  keep_state(op, hidden, h, last[0]);
  return time_first(op, y, r.time_major);
}

}  // namespace

void import_rnn(Op& op) {
  const auto& o = op.options<fb::RNNOptions>();
  Recurrence r;
  r.act = o.fused_activation_function();
  r.asymmetric = o.asymmetric_quantize_inputs();
  if (op.type_in(0) != DType::f32) return op.fail("RNN is supported in float and hybrid form");
  op.set(op.b.squeeze(simple_rnn(op, op.b.unsqueeze(op.value(0), {0}), 1, r), {0}));
}

void import_unidirectional_rnn(Op& op) {
  const auto& o = op.options<fb::SequenceRNNOptions>();
  Recurrence r;
  r.act = o.fused_activation_function();
  r.time_major = o.time_major();
  r.asymmetric = o.asymmetric_quantize_inputs();
  if (op.type_in(0) != DType::f32) return op.fail("UNIDIRECTIONAL_SEQUENCE_RNN is supported in float and hybrid form");
  op.set(simple_rnn(op, op.value(0), 1, r));
}

void import_bidirectional_rnn(Op& op) {
  const auto& o = op.options<fb::BidirectionalSequenceRNNOptions>();
  if (op.has(9)) return op.fail("an auxiliary input is not supported");
  Recurrence r;
  r.act = o.fused_activation_function();
  r.time_major = o.time_major();
  r.asymmetric = o.asymmetric_quantize_inputs();
  Value* forward = simple_rnn(op, op.value(0), 1, r);
  r.backward = true;
  Value* backward = simple_rnn(op, op.value(0), 5, r);
  if (o.merge_outputs()) return op.set(op.b.op(OpId::concat, ops::concat::Attrs{2}, {forward, backward}));
  op.set(0, forward);
  op.set(1, backward);
}

namespace {

// SVDF with weights of 8 bits and real activations, from simpler operators.
void hybrid_svdf(Op& op, const fb::SVDFOptions& o) {
  Value *state = op.value(4), *time = op.value(2), *bias = op.value(3);
  if (!op.ok()) return;
  if (time->type.rank() != 2) return op.fail("expected time weights (filters, memory), found " + describe(op.in(2)));
  if (time->type.dtype != DType::f32) time = op.b.op(OpId::dequantize, ops::dequantize::Attrs{}, {time, filter_scales(op, op.in(2))});
  Value* fresh = dense(op, op.b, op.value(0), 1, nullptr, o.asymmetric_quantize_inputs());
  if (!op.ok() || o.rank() < 1 || fresh->type.dims[1] % o.rank() != 0) return op.fail("the rank does not divide the filters");
  const int32_t batch = fresh->type.dims[0], filters = fresh->type.dims[1], memory = time->type.dims[1];
  Value* old = op.b.reshape(state, {batch, filters, memory});
  ops::slice::Attrs s;
  s.count = 1;
  s.axes[0] = 2;
  s.starts[0] = 1;
  s.ends[0] = memory;
  s.steps[0] = 1;
  Value* next = op.b.op(OpId::concat, ops::concat::Attrs{2}, {op.b.op(OpId::slice, s, {old}), op.b.unsqueeze(fresh, {2})});
  ops::ReduceAttrs last;
  last.axes[0] = -1;
  last.axis_count = 1;
  last.keep_dims = 0;
  Value* y = op.b.op(OpId::reduce_sum, last, {op.b.op(OpId::mul, {next, time})});
  y = op.b.op(OpId::reduce_sum, last, {op.b.reshape(y, {batch, filters / o.rank(), o.rank()})});
  if (bias != nullptr) y = op.b.op(OpId::add, {y, bias});
  op.set(activate(op, y, o.fused_activation_function()));
  keep_state(op, 4, state, next);
}

}  // namespace

// inputs: x (B, I), feature weights (F, I), time weights (F, M), bias?, state (B, F * M).
void import_svdf(Op& op) {
  const auto& o = op.options<fb::SVDFOptions>();
  Value* state = op.value(4);
  if (state == nullptr) return op.fail("the state is missing");
  if (op.type_in(0) == DType::f32 && op.type_in(1) != DType::f32) return hybrid_svdf(op, o);
  std::vector<Value*> out;
  if (op.type_in(0) == DType::f32) {
    ops::svdf::Attrs a;
    a.rank = o.rank();
    set_activation(op, o.fused_activation_function(), &a);
    out = op.b.ops(OpId::svdf, a, {state, op.value(0), op.value(1), op.value(2), op.value(3)}, 2);
  } else {
    const Tensor &x = op.in(0), &feature = op.in(1), &time = op.in(2), &memory = op.in(4), &y = op.out();
    for (const Tensor* t : {&x, &feature, &time, &memory, &y})
      if (!need_scale(op, *t)) return;
    const Multiplier to_state = quantize_multiplier(static_cast<double>(x.scale() * feature.scale() / memory.scale()));
    const Multiplier to_out = quantize_multiplier(static_cast<double>(memory.scale() * time.scale() / y.scale()));
    ops::q_svdf::Attrs a;
    a.rank = o.rank();
    a.input_zero = x.zero();
    a.output_zero = y.zero();
    a.feature_multiplier = to_state.value;
    a.feature_shift = to_state.shift;
    a.time_multiplier = to_out.value;
    a.time_shift = to_out.shift;
    out = op.b.ops(OpId::q_svdf, a, {state, op.value(0), op.value(1), op.value(2), op.value(3)}, 2);
  }
  if (out.empty()) return;
  op.set(out[1]);
  keep_state(op, 4, state, out[0]);
}

// --- full-integer LSTM ---

namespace {

// -zero times the sums of the rows of a weight matrix, plus a bias.
std::vector<int32_t> folded_bias(Op& op, uint32_t weights, int32_t zero_point, uint32_t bias) {
  const Value *w = op.value(weights), *b = op.value(bias);
  if (w == nullptr || !w->is_constant() || w->type.dtype != DType::s8 || w->type.rank() != 2) {
    op.fail("expected constant weights of type s8, found " + describe(op.in(weights)));
    return {};
  }
  if (b != nullptr && (!b->is_constant() || b->type.dtype != DType::s32 || b->type.count() != w->type.dims[0])) {
    op.fail("expected a constant bias of type s32, found " + describe(op.in(bias)));
    return {};
  }
  const size_t rows = static_cast<size_t>(w->type.dims[0]), cols = static_cast<size_t>(w->type.dims[1]);
  std::vector<int32_t> out(rows, 0);
  for (size_t i = 0; i < rows; ++i) {
    int64_t sum = 0;
    for (size_t k = 0; k < cols; ++k) sum += static_cast<int8_t>(w->data.data[i * cols + k]);
    int32_t first = 0;
    if (b != nullptr) std::copy_n(b->data.data + i * 4, 4, reinterpret_cast<uint8_t*>(&first));
    out[i] = ops::wrap_to_s32(first - sum * zero_point);
  }
  return out;
}

constexpr uint32_t kAbsent = 1000;

// Weights of the gates stacked, (gates, rows, columns).
Value* stacked(Op& op, uint32_t first, uint32_t from) {
  std::vector<Value*> parts;
  for (uint32_t g = from; g < 4; ++g) parts.push_back(op.b.unsqueeze(op.value(first + g), {0}));
  return op.b.op(OpId::concat, ops::concat::Attrs{0}, parts);
}

int32_t bounded(float clip, float scale, float most) {
  return clip > 0 ? static_cast<int32_t>(std::min(std::max(clip / scale, -most), most)) : 0;
}

// The projection of the hidden state: its scaling, and the operands for weights and bias. False when a scale is missing.
bool add_projection(Op& op, const LstmInputs& i, const Recurrence& r, ops::q_lstm::Attrs* a, std::vector<Value*>* in) {
  const Tensor &hidden = op.in(i.hidden), &product = *op.intermediate(4);
  if (!need_scale(op, op.in(i.projection))) return false;
  const Multiplier m = quantize_multiplier(static_cast<double>(op.in(i.projection).scale() * product.scale() / hidden.scale()));
  a->projection_multiplier = m.value;
  a->projection_shift = m.shift;
  a->projection_clip = bounded(r.projection_clip, hidden.scale(), 127.0f);
  a->output_zero = hidden.zero();
  const std::vector<int32_t> bias = folded_bias(op, i.projection, product.zero(), i.projection_bias);
  in->push_back(op.value(i.projection));
  in->push_back(op.b.graph().constant<int32_t>({static_cast<int32_t>(bias.size())}, bias));
  return true;
}

}  // namespace

Value* quantized_lstm(Op& op, const LstmInputs& i, const Recurrence& r) {
  if (!need_gates(op, i)) return nullptr;
  const Tensor &x = op.in(i.x), &hidden = op.in(i.hidden), &cell = op.in(i.cell), *product = op.intermediate(4);
  const bool coupled = !op.has(i.input_weights), projected = op.has(i.projection);
  if (x.dtype != DType::s8 || op.has(i.layer_norm + 1) || op.has(i.peepholes + 1)) {
    op.fail("full-integer LSTM is supported with 8-bit activations, without layer normalisation and peepholes");
    return nullptr;
  }
  if (product == nullptr) op.fail("the scale of the hidden state (intermediate tensor 4) is missing");
  if (!op.ok() || !need_scale(op, x) || !need_scale(op, hidden) || !need_scale(op, cell) || !need_scale(op, *product)) return nullptr;
  ops::q_lstm::Attrs a;
  a.time_major = r.time_major ? 1 : 0;
  a.coupled = coupled ? 1 : 0;
  std::vector<int32_t> bx, bh;
  const uint32_t from = coupled ? 1 : 0;
  int32_t cells = 0;
  for (uint32_t g = from; g < 4; ++g) {
    if (!need_scale(op, op.in(i.input_weights + g)) || !need_scale(op, op.in(i.recurrent_weights + g))) return nullptr;
    constexpr float kGateScale = 1.0f / 4096;
    const Multiplier mx = quantize_multiplier(static_cast<double>(op.in(i.input_weights + g).scale() * x.scale() / kGateScale));
    const Multiplier mh = quantize_multiplier(static_cast<double>(op.in(i.recurrent_weights + g).scale() * hidden.scale() / kGateScale));
    a.input_multiplier[g] = mx.value;
    a.input_shift[g] = mx.shift;
    a.recurrent_multiplier[g] = mh.value;
    a.recurrent_shift[g] = mh.shift;
    const std::vector<int32_t> fx = folded_bias(op, i.input_weights + g, x.zero(), i.biases + g),
                               fh = folded_bias(op, i.recurrent_weights + g, hidden.zero(), kAbsent);
    bx.insert(bx.end(), fx.begin(), fx.end());
    bh.insert(bh.end(), fh.begin(), fh.end());
    cells = static_cast<int32_t>(fx.size());
  }
  a.cell_exponent = static_cast<int32_t>(std::round(std::log2(cell.scale())));
  a.cell_clip = bounded(r.cell_clip, cell.scale(), 32767.0f);
  const Multiplier mo = quantize_multiplier(static_cast<double>(std::pow(2.0f, -15.0f) / product->scale() * std::pow(2.0f, -15.0f)));
  a.hidden_multiplier = mo.value;
  a.hidden_shift = mo.shift;
  a.hidden_zero = product->zero();
  ir::Graph& g = op.b.graph();
  std::vector<Value*> in{op.value(i.x), op.value(i.hidden), op.value(i.cell), stacked(op, i.input_weights, from),
                         stacked(op, i.recurrent_weights, from)};
  if (!op.ok()) return nullptr;
  const Dims bias_dims{static_cast<int32_t>(4 - from), cells};
  if (bx.size() != static_cast<size_t>(bias_dims[0]) * static_cast<size_t>(cells) || bh.size() != bx.size())
    op.fail("the gates differ in size");
  if (!op.ok()) return nullptr;
  in.push_back(g.constant<int32_t>(bias_dims, bx));
  in.push_back(g.constant<int32_t>(bias_dims, bh));
  if (projected && !add_projection(op, i, r, &a, &in)) return nullptr;
  const std::vector<Value*> out = op.b.ops(OpId::q_lstm, a, in, 3);
  if (out.empty()) return nullptr;
  keep_state(op, i.hidden, in[1], out[1]);
  keep_state(op, i.cell, in[2], out[2]);
  return out[0];
}

}  // namespace mote::frontends::tflite
