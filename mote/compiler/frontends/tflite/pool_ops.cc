// Pooling, normalisation and softmax.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/compiler/frontends/tflite/window.h"
#include "mote/ops/avg_pool/avg_pool.h"
#include "mote/ops/local_response_norm/local_response_norm.h"
#include "mote/ops/lp_norm/lp_norm.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_l2_norm/q_l2_norm.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::frontends::tflite {
namespace {

template <class A>
bool set_pool(Op& op, const Value& x, A* a) {
  const auto& o = op.options<fb::Pool2DOptions>();
  const Dims kernel{o.filter_height(), o.filter_width()};
  Window w{{o.stride_h(), o.stride_w(), 1}};
  if (x.type.rank() != 4) op.fail("expected an input of 4 dimensions, found " + describe(op.in(0)));
  if (!op.ok() || !pad_window(op, x, kernel, o.padding(), &w)) return false;
  std::copy(kernel.begin(), kernel.end(), a->kernel);
  std::copy(w.strides, w.strides + 3, a->strides);
  std::copy(w.begin, w.begin + 3, a->pads_begin);
  std::copy(w.end, w.end + 3, a->pads_end);
  return true;
}

}  // namespace

void import_average_pool_2d(Op& op) {
  const ActivationFunctionType act = op.options<fb::Pool2DOptions>().fused_activation_function();
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  if (is_8_or_16_bits(x->type.dtype)) {
    ops::q_avg_pool::Attrs a;
    if (!need_scale(op, op.out()) || !set_pool(op, *x, &a)) return;
    const Range r = activation_range(op, act, op.out());
    a.clamp_lo = r.lo;
    a.clamp_hi = r.hi;
    return op.set(op.b.op(OpId::q_avg_pool, a, {x}));
  }
  ops::avg_pool::Attrs a;
  if (set_pool(op, *x, &a)) op.set(activate(op, op.b.op(OpId::avg_pool, a, {x}), act));
}

void import_max_pool_2d(Op& op) {
  const ActivationFunctionType act = op.options<fb::Pool2DOptions>().fused_activation_function();
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  ops::max_pool::Attrs a;
  if (!set_pool(op, *x, &a)) return;
  Value* y = op.b.op(OpId::max_pool, a, {x});
  if (!is_8_or_16_bits(x->type.dtype)) return op.set(activate(op, y, act));
  if (act != ActivationFunctionType::NONE && !need_scale(op, op.out())) return;
  op.set(clip_to(op, y, activation_range(op, act, op.out())));
}

// The root of the mean of squares.
void import_l2_pool_2d(Op& op) {
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  ops::avg_pool::Attrs a;
  if (!set_pool(op, *x, &a)) return;
  Value* mean = op.b.op(OpId::avg_pool, a, {op.b.op(OpId::square, {x})});
  op.set(activate(op, op.b.op(OpId::sqrt, {mean}), op.options<fb::Pool2DOptions>().fused_activation_function()));
}

void import_l2_normalization(Op& op) {
  if (is_8_or_16_bits(op.type_in(0))) return op.set(op.b.op(OpId::q_l2_norm, ops::q_l2_norm::Attrs{op.in(0).zero()}, {op.value(0)}));
  ops::lp_norm::Attrs a;
  a.epsilon = 1e-6f;
  op.set(activate(op, op.b.op(OpId::lp_norm, a, {op.value(0)}), op.options<fb::L2NormOptions>().fused_activation_function()));
}

void import_local_response_norm(Op& op) {
  const auto& o = op.options<fb::LocalResponseNormalizationOptions>();
  if (o.radius() < 0 || o.radius() > 1 << 20) return op.fail("expected a radius from 0 to 2^20, found " + std::to_string(o.radius()));
  ops::local_response_norm::Attrs a;
  a.size = 2 * o.radius() + 1;
  a.alpha = o.alpha() * static_cast<float>(a.size);
  a.beta = o.beta();
  a.bias = o.bias();
  op.set(op.b.op(OpId::local_response_norm, a, {op.value(0)}));
}

namespace {

void softmax16(Op& op, float beta) {
  constexpr double kRange = 65535;
  const auto exp = table16(10.0 / kRange, 32767, 2.0 / kRange, 0, [](double v) { return std::exp(v); });
  const auto reciprocal = table16(1.0 / kRange, -32768, 2.0 / kRange, 0, [](double v) { return 1.0 / (1.0 + v); });
  const Multiplier m = quantize_multiplier(static_cast<double>(op.in(0).scale() * beta) / (10.0 / kRange));
  ops::q_softmax::Attrs a;
  a.multiplier = m.value;
  a.shift = m.shift;
  ir::Graph& g = op.b.graph();
  op.set(op.b.op(OpId::q_softmax, a, {op.value(0), g.constant<int16_t>({513}, exp), g.constant<int16_t>({513}, reciprocal)}));
}

}  // namespace

void import_softmax(Op& op) {
  const float beta = op.options<fb::SoftmaxOptions>().beta();
  Value* x = op.value(0);
  if (x == nullptr) return op.fail("the input is missing");
  if (!is_8_or_16_bits(x->type.dtype)) {
    if (beta != 1.0f) x = op.b.op(OpId::mul, {x, op.b.graph().scalar<float>(beta)});
    return op.set(op.b.op(OpId::softmax, ops::softmax::Attrs{}, {x}));
  }
  if (!need_scale(op, op.in(0)) || !need_scale(op, op.out())) return;
  if (x->type.dtype == DType::s16) return softmax16(op, beta);
  constexpr int kIntegerBits = 5;
  const double real = static_cast<double>(beta) * static_cast<double>(op.in(0).scale()) * (1 << (31 - kIntegerBits));
  const Multiplier m = quantize_multiplier(std::min(real, 2147483647.0));
  if (m.shift < 0 || m.shift > 31)
    return op.fail("beta times the input's scale is out of range: " + std::to_string(beta * op.in(0).scale()));
  ops::q_softmax::Attrs a;
  a.to = static_cast<uint32_t>(op.out().dtype);
  a.multiplier = m.value;
  a.shift = m.shift;
  const double radius =
      ((1 << kIntegerBits) - 1) * static_cast<double>(int64_t{1} << (31 - kIntegerBits)) / static_cast<double>(int64_t{1} << m.shift);
  a.diff_min = -static_cast<int32_t>(std::floor(radius));
  op.set(op.b.op(OpId::q_softmax, a, {x}));
}

// As LiteRT's kernel for 8 bits: a table of exponentials of distances to the largest, all else in f32.
static Value* log_softmax_8(Op& op) {
  const float from = op.in(0).scale(), to = op.out().scale();
  const int last = rank_of(op.value(0)) - 1;
  std::vector<float> table(256);
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = std::exp(-from * static_cast<float>(i));
  Words w(op.b);
  Value* x = w.cast(op.value(0), DType::s32);
  Value* most = w.reduce(OpId::reduce_max, x, {last});
  Value* sum = w.reduce(OpId::reduce_sum, w.gather(op.b.graph().constant<float>({256}, table), w.sub(most, x), 0), {last});
  Value* offset = w.div(w.add(w.mul(w.cast(most, DType::f32), from), w.op(OpId::log, {sum})), to);
  Value* y = w.op(OpId::round, {w.sub(w.mul(w.cast(x, DType::f32), from / to), offset)});
  const bool is_signed = op.out().dtype == DType::s8;
  y = w.add(y, op.out().zero());
  y = w.op(OpId::minimum, {w.op(OpId::maximum, {y, w.number(is_signed ? -128 : 0, y)}), w.number(is_signed ? 127 : 255, y)});
  return w.cast(y, op.out().dtype);
}

void import_log_softmax(Op& op) {
  if (op.in(0).is_quantized()) {
    const bool bytes = op.in(0).dtype == DType::s8 || op.in(0).dtype == DType::u8;
    if (!bytes || op.out().dtype != op.in(0).dtype || rank_of(op.value(0)) < 1)
      return op.fail("expected LOG_SOFTMAX of 8 bits to the same type, found " + describe(op.in(0)) + " to " + describe(op.out()),
                     "keep this operator in float when quantizing");
    if (need_scale(op, op.in(0)) && need_scale(op, op.out())) op.set(log_softmax_8(op));
    return;
  }
  op.set(op.b.op(OpId::log_softmax, {op.value(0)}));
}

}  // namespace mote::frontends::tflite
