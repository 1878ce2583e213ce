// Long short-term memory layers.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/tflite/import.h"
#include "mote/compiler/frontends/tflite/recurrent.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/layer_norm/layer_norm.h"
#include "mote/ops/lstm/lstm.h"
#include "mote/ops/split/split.h"

namespace mote::frontends::tflite {
namespace {

constexpr uint32_t kInput = 0, kForget = 1, kCell = 2, kOutput = 3;

Value* joined(Op& op, const std::vector<Value*>& parts) { return op.b.op(OpId::concat, ops::concat::Attrs{0}, parts); }

// An operand of every gate in Mote's order (input, output, forget, cell). Without an input gate it is one minus the forget gate, whose
// negated weights say the same.
Value* gates(Op& op, uint32_t first, bool coupled) {
  Value* in = coupled ? op.b.op(OpId::neg, {op.value(first + kForget)}) : op.value(first + kInput);
  return joined(op, {in, op.value(first + kOutput), op.value(first + kForget), op.value(first + kCell)});
}

Value* clipped(ir::NodeBuilder& b, Value* x, float limit) { return limit > 0 ? b.op(OpId::clip, ops::clip::Attrs{-limit, limit}, {x}) : x; }

// One layer in one direction with Mote's own operator.
Value* whole_lstm(Op& op, const LstmInputs& i, const Recurrence& r) {
  Value *x = op.value(i.x), *h = op.value(i.hidden), *c = op.value(i.cell);
  const bool coupled = !op.has(i.input_weights);
  ops::lstm::Attrs a;
  a.direction = r.backward ? 1 : 0;
  a.input_forget = coupled ? 1 : 0;
  a.cell_clip = r.cell_clip;
  float lo = 0, hi = 0;
  a.activations[1] = a.activations[2] = static_cast<int32_t>(activation_kind(op, r.act, &lo, &hi));
  a.alpha[1] = a.alpha[2] = lo;
  a.beta[1] = a.beta[2] = hi;
  Value *w = gates(op, i.input_weights, coupled), *rec = gates(op, i.recurrent_weights, coupled), *bias = gates(op, i.biases, coupled);
  if (!op.ok()) return nullptr;
  const std::vector<float> zeros(static_cast<size_t>(bias->type.dims[0]), 0.0f);
  bias = joined(op, {bias, op.b.graph().constant<float>(bias->type.dims, zeros)});
  Value* peephole = nullptr;
  if (op.has(i.peepholes + kForget)) {
    Value* of_input = coupled ? op.b.op(OpId::neg, {op.value(i.peepholes + 1)}) : op.value(i.peepholes);
    peephole = op.b.unsqueeze(joined(op, {of_input, op.value(i.peepholes + 2), op.value(i.peepholes + 1)}), {0});
  }
  Value* projection = op.has(i.projection) ? op.b.unsqueeze(op.value(i.projection), {0}) : nullptr;
  const std::vector<Value*> out =
      op.b.ops(OpId::lstm, a,
               {time_first(op, x, r.time_major), op.b.unsqueeze(w, {0}), op.b.unsqueeze(rec, {0}), op.b.unsqueeze(bias, {0}), nullptr,
                op.b.unsqueeze(h, {0}), op.b.unsqueeze(c, {0}), peephole, projection},
               3);
  if (out.empty()) return nullptr;
  keep_state(op, i.hidden, h, out[1]);
  keep_state(op, i.cell, c, out[2]);
  return time_first(op, op.b.squeeze(out[0], {1}), r.time_major);
}

// An operand of cells (peephole, layer normalisation) as real numbers.
Value* real_operand(Op& op, uint32_t i) {
  Value* v = op.value(i);
  if (v == nullptr || v->type.dtype == DType::f32) return v;
  if (!need_scale(op, op.in(i))) return nullptr;
  return op.b.op(OpId::dequantize, ops::dequantize::Attrs{}, {v, op.b.graph().scalar<float>(op.in(i).scale())});
}

Value* apply_activation(Op& op, ir::NodeBuilder& b, Value* x, ActivationFunctionType act) {
  switch (act) {
    case ActivationFunctionType::NONE: return x;
    case ActivationFunctionType::TANH: return b.op(OpId::tanh, {x});
    case ActivationFunctionType::RELU: return b.op(OpId::relu, {x});
    case ActivationFunctionType::RELU6: return b.op(OpId::clip, ops::clip::Attrs{0, 6}, {x});
    case ActivationFunctionType::RELU_N1_TO_1: return b.op(OpId::clip, ops::clip::Attrs{-1, 1}, {x});
    default: op.fail("the activation " + std::to_string(static_cast<int>(act)) + " is not supported"); return nullptr;
  }
}

// One layer in one direction step by step: hybrid weights, layer normalisation, a projection with a bias or a bound.
class StepwiseLstm {
 public:
  StepwiseLstm(Op& op, const LstmInputs& i, const Recurrence& r) : op_(op), i_(i), r_(r) {
    normalized_ = op.has(i.layer_norm + kForget);
    for (uint32_t g = 0; g < 4; ++g) {
      bias_[g] = op.value(i.biases + g);
      norm_[g] = normalized_ ? real_operand(op, i.layer_norm + g) : nullptr;
      peephole_[g] =
          g != kCell && op.has(i.peepholes + (g == kOutput ? 2 : g)) ? real_operand(op, i.peepholes + (g == kOutput ? 2 : g)) : nullptr;
    }
    projection_bias_ = op.value(i.projection_bias);
  }

  Value* run() {
    Value *x = time_first(op_, op_.value(i_.x), r_.time_major), *h = op_.value(i_.hidden), *c = op_.value(i_.cell);
    States last;
    Value* y = run_steps(
        op_, x, {h, c}, r_.backward, [this](ir::NodeBuilder& b, Value* v, const States& s) { return step(b, v, s); }, &last);
    if (y == nullptr) return nullptr;
    keep_state(op_, i_.hidden, h, last[0]);
    keep_state(op_, i_.cell, c, last[1]);
    return time_first(op_, y, r_.time_major);
  }

 private:
  Value* gate(ir::NodeBuilder& b, uint32_t g, Value* x, Value* h, Value* c) {
    Value* z = dense(op_, b, x, i_.input_weights + g, normalized_ ? nullptr : bias_[g], r_.asymmetric);
    z = b.op(OpId::add, {z, dense(op_, b, h, i_.recurrent_weights + g, nullptr, r_.asymmetric)});
    if (peephole_[g] != nullptr) z = b.op(OpId::add, {z, b.op(OpId::mul, {peephole_[g], c})});
    if (normalized_) {
      ops::layer_norm::Attrs a;
      a.epsilon = 1e-8f;
      z = b.op(OpId::layer_norm, a, {z, norm_[g], bias_[g]});
    }
    return g == kCell ? apply_activation(op_, b, z, r_.act) : b.op(OpId::sigmoid, {z});
  }

  States step(ir::NodeBuilder& b, Value* x, const States& s) {
    Value *h = s[0], *c = s[1];
    Value* forget = gate(b, kForget, x, h, c);
    Value* in = op_.has(i_.input_weights) ? gate(b, kInput, x, h, c) : b.op(OpId::sub, {op_.b.graph().scalar<float>(1), forget});
    Value* fresh = gate(b, kCell, x, h, c);
    Value* cell = clipped(b, b.op(OpId::add, {b.op(OpId::mul, {forget, c}), b.op(OpId::mul, {in, fresh})}), r_.cell_clip);
    Value* out = b.op(OpId::mul, {gate(b, kOutput, x, h, cell), apply_activation(op_, b, cell, r_.act)});
    if (op_.has(i_.projection)) out = clipped(b, dense(op_, b, out, i_.projection, projection_bias_, r_.asymmetric), r_.projection_clip);
    if (!b.ok() || !op_.ok() || out == nullptr || cell == nullptr) return {};
    return {out, cell};
  }

  Op& op_;
  const LstmInputs& i_;
  const Recurrence& r_;
  bool normalized_ = false;
  Value *bias_[4] = {}, *norm_[4] = {}, *peephole_[4] = {}, *projection_bias_ = nullptr;
};

Value* float_lstm(Op& op, const LstmInputs& i, const Recurrence& r) {
  if (!need_gates(op, i)) return nullptr;
  const Value* w = op.value(i.input_weights + kForget);
  if (w == nullptr) {
    op.fail("the weights of the forget gate are missing");
    return nullptr;
  }
  if (r.cell_clip < 0 || r.projection_clip < 0) op.fail("bounds must not be negative");
  const bool plain = w->type.dtype == DType::f32 && !op.has(i.layer_norm + kForget) && !op.has(i.projection_bias) && r.projection_clip == 0;
  return plain ? whole_lstm(op, i, r) : StepwiseLstm(op, i, r).run();
}

// The concatenated form of old models: inputs x, h, weights (4C, I + C), bias, c; outputs h, c, and two that nobody uses.
void basic_lstm(Op& op) {
  if (!op.need({0, 1, 2, 3, 4})) return;
  Value *x = op.value(0), *h = op.value(1), *c = op.value(4);
  if (op.type_in(0) != DType::f32) return op.fail("the basic LSTM kernel is supported in float alone");
  if (!op.ok()) return;
  Value* z = dense(op, op.b, op.b.op(OpId::concat, ops::concat::Attrs{1}, {x, h}), 2, op.value(3), false);
  const std::vector<Value*> g = op.b.ops(OpId::split, ops::split::Attrs{1}, {z}, 4);  // input, new, forget, output
  if (g.empty()) return;
  Value* added = op.b.op(OpId::mul, {op.b.op(OpId::sigmoid, {g[0]}), op.b.op(OpId::tanh, {g[1]})});
  Value* cell = op.b.op(OpId::add, {op.b.op(OpId::mul, {op.b.op(OpId::sigmoid, {g[2]}), c}), added});
  Value* hidden = op.b.op(OpId::mul, {op.b.op(OpId::sigmoid, {g[3]}), op.b.op(OpId::tanh, {cell})});
  op.set(0, hidden);
  op.set(1, cell);
  if (op.outputs() > 2) op.set(2, z);
  if (op.outputs() > 3) op.set(3, z);
}

}  // namespace

Value* quantized_lstm(Op& op, const LstmInputs& i, const Recurrence& r);

void import_unidirectional_lstm(Op& op) {
  const auto& o = op.options<fb::UnidirectionalSequenceLSTMOptions>();
  if (o.diagonal_recurrent_tensors()) return op.fail("diagonal recurrent weights are not supported");
  Recurrence r{o.fused_activation_function(), o.cell_clip(), o.proj_clip(), o.time_major(), false, o.asymmetric_quantize_inputs()};
  const bool quantized = op.type_in(0) == DType::s8 || op.type_in(0) == DType::s16;
  op.set(quantized ? quantized_lstm(op, {}, r) : float_lstm(op, {}, r));
}

void import_lstm(Op& op) {
  const auto& o = op.options<fb::LSTMOptions>();
  if (o.kernel_type() == fb::LSTMKernelType::BASIC) return basic_lstm(op);
  Recurrence r{o.fused_activation_function(), o.cell_clip(), o.proj_clip(), true, false, o.asymmetric_quantize_inputs()};
  if (op.type_in(0) != DType::f32) return op.fail("the LSTM operator is supported in float alone; sequences may be quantized");
  // One step: the time is an axis of size 1.
  Value* x = op.value(0);
  if (x == nullptr || x->type.rank() != 2) return op.fail("expected an input (batch, features), found " + describe(op.in(0)));
  const size_t at = static_cast<size_t>(op.source.table->inputs()->Get(0));
  Value* before = op.scope.values[at];
  op.scope.values[at] = op.b.unsqueeze(x, {0});
  Value* y = float_lstm(op, {}, r);
  op.scope.values[at] = before;
  op.set(op.outputs() - 1, op.b.squeeze(y, {0}));
}

void import_bidirectional_lstm(Op& op) {
  const auto& o = op.options<fb::BidirectionalSequenceLSTMOptions>();
  if (op.has(39)) return op.fail("an auxiliary input is not supported");
  Recurrence r{o.fused_activation_function(), o.cell_clip(), o.proj_clip(), o.time_major(), false, o.asymmetric_quantize_inputs()};
  constexpr uint32_t kNone = 1000;  // there is no layer normalisation here
  Value* forward = float_lstm(op, {0, 1, 5, 9, 12, 16, 17, 35, 36, kNone}, r);
  r.backward = true;
  Value* backward = float_lstm(op, {0, 18, 22, 26, 29, 33, 34, 37, 38, kNone}, r);
  if (o.merge_outputs()) return op.set(op.b.op(OpId::concat, ops::concat::Attrs{2}, {forward, backward}));
  op.set(0, forward);
  op.set(1, backward);
}

}  // namespace mote::frontends::tflite
