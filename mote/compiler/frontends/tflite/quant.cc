#include "mote/compiler/frontends/tflite/quant.h"

#include <cmath>
#include <limits>

#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/common/fixed_point.h"
#include "mote/ops/common/quant.h"
#include "mote/ops/q_lut16/q_lut16.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::frontends::tflite {

int32_t apply(Multiplier m, int32_t x) { return ops::scale_by(x, m.value, m.shift); }

Range type_range(DType t) {
  const ops::IntRange r = ops::int_range(t);
  return {r.lo, r.hi};
}

Range real_range(const Tensor& t, float lo, float hi) {
  Range r = type_range(t.dtype);
  const auto quantized = [&](float v) {
    return static_cast<int64_t>(t.zero()) + ops::round_to_s32(v / t.scale(), ops::Rounding::kHalfAway);
  };
  if (std::isfinite(lo)) r.lo = ops::clamp_to(quantized(lo), r.lo, r.hi);
  if (std::isfinite(hi)) r.hi = ops::clamp_to(quantized(hi), r.lo, r.hi);
  return r;
}

Range activation_range(Op& op, ActivationFunctionType act, const Tensor& out) {
  const float inf = std::numeric_limits<float>::infinity();
  switch (act) {
    case ActivationFunctionType::NONE: return type_range(out.dtype);
    case ActivationFunctionType::RELU: return real_range(out, 0, inf);
    case ActivationFunctionType::RELU6: return real_range(out, 0, 6);
    case ActivationFunctionType::RELU_N1_TO_1: return real_range(out, -1, 1);
    default: break;
  }
  op.fail("the fused activation " + std::string(fb::EnumNameActivationFunctionType(act)) + " is not possible on quantized numbers");
  return {};
}

uint32_t activation_kind(Op& op, ActivationFunctionType act, float* a, float* b) {
  switch (act) {
    case ActivationFunctionType::NONE: return static_cast<uint32_t>(ops::Activation::kNone);
    case ActivationFunctionType::RELU: return static_cast<uint32_t>(ops::Activation::kRelu);
    case ActivationFunctionType::RELU6: return static_cast<uint32_t>(ops::Activation::kRelu6);
    case ActivationFunctionType::TANH: return static_cast<uint32_t>(ops::Activation::kTanh);
    case ActivationFunctionType::RELU_N1_TO_1:
      *a = -1;
      *b = 1;
      return static_cast<uint32_t>(ops::Activation::kClamp);
    default: break;
  }
  op.fail("the fused activation " + std::to_string(static_cast<int>(act)) + " is not supported");
  return 0;
}

Value* activate(Op& op, Value* x, ActivationFunctionType act) {
  if (x == nullptr) return nullptr;
  switch (act) {
    case ActivationFunctionType::NONE: return x;
    case ActivationFunctionType::RELU: return op.b.op(OpId::relu, {x});
    case ActivationFunctionType::RELU6: return op.b.op(OpId::clip, ops::clip::Attrs{0, 6}, {x});
    case ActivationFunctionType::RELU_N1_TO_1: return op.b.op(OpId::clip, ops::clip::Attrs{-1, 1}, {x});
    case ActivationFunctionType::TANH: return op.b.op(OpId::tanh, {x});
    default: break;
  }
  op.fail("the fused activation " + std::to_string(static_cast<int>(act)) + " is not supported");
  return nullptr;
}

Value* clip_to(Op& op, Value* x, Range range) {
  if (x == nullptr) return nullptr;
  const Range all = type_range(x->type.dtype);
  if (range.lo <= all.lo && range.hi >= all.hi) return x;
  return op.b.op(OpId::clip, ops::clip::Attrs{static_cast<float>(range.lo), static_cast<float>(range.hi)}, {x});
}

bool need_scale(Op& op, const Tensor& t) {
  const std::string who = "'" + std::string(t.name) + "' (" + describe(t) + ")";
  if (!t.quant.present()) {
    op.fail(who + " has no scale; expected a quantized tensor", "convert the model with full integer quantization");
    return false;
  }
  const bool narrow = t.dtype == DType::s8 || t.dtype == DType::u8 || t.dtype == DType::s16 || t.dtype == DType::s4;
  const Range range = narrow ? type_range(t.dtype) : Range{-(1 << 30), 1 << 30};
  for (uint32_t i = 0; i < t.quant.count(); ++i) {
    const float scale = t.quant.scale_at(i);
    const int32_t zero = t.quant.zero_at(i);
    if (scale > 0 && std::isfinite(scale) && zero >= range.lo && zero <= range.hi) continue;
    op.fail(who + " has scale " + std::to_string(scale) + " and zero point " + std::to_string(zero) +
            "; expected a positive scale and a zero point in the range of its type");
    return false;
  }
  return true;
}

bool same_quant(const Tensor& a, const Tensor& b) { return a.scale() == b.scale() && a.zero() == b.zero(); }

MultiplierOperands operands(Op& op, const std::vector<Multiplier>& m) {
  std::vector<int32_t> value, shift;
  for (const Multiplier& x : m) {
    value.push_back(x.value);
    shift.push_back(x.shift);
  }
  const Dims dims{static_cast<int32_t>(m.size())};
  return {op.b.graph().constant<int32_t>(dims, value), op.b.graph().constant<int32_t>(dims, shift)};
}

Value* requantize(Op& op, Value* x, int32_t zero, Multiplier m, int32_t output_zero, DType to, Range clamp) {
  const MultiplierOperands o = operands(op, {m});
  ops::requantize::Attrs a;
  a.to = static_cast<uint32_t>(to);
  a.input_zero = zero;
  a.output_zero = output_zero;
  a.clamp_lo = clamp.lo;
  a.clamp_hi = clamp.hi;
  return op.b.op(OpId::requantize, a, {x, o.value, o.shift});
}

Value* rescale(Op& op, Value* x, int32_t zero, int left_shift, Multiplier m) {
  Value* wide = op.b.cast(x, DType::s32);
  if (left_shift > 0) wide = op.b.op(OpId::mul, {wide, op.b.graph().scalar<int32_t>(1 << left_shift)});
  const int64_t moved = int64_t{zero} * (int64_t{1} << left_shift);
  return requantize(op, wide, static_cast<int32_t>(moved), m, 0, DType::s32, type_range(DType::s32));
}

Value* lut8(Op& op, Value* x, DType out, const std::function<int32_t(int32_t)>& f) {
  if (x == nullptr) return nullptr;
  const Range from = type_range(x->type.dtype), to = type_range(out);
  std::vector<uint8_t> table(256);
  for (int32_t v = from.lo; v <= from.hi; ++v) table[static_cast<uint8_t>(v)] = static_cast<uint8_t>(ops::clamp_to(f(v), to.lo, to.hi));
  Value* t = op.b.graph().add_constant(out, {256}, ir::Bytes::own(std::move(table)));
  return op.b.op(OpId::q_lut, {x, t});
}

namespace {

// The table compensates half of the error that interpolation has in the middle between two entries.
template <class F>
std::vector<int16_t> make_table16(F in_scale, int32_t in_zero, F out_scale, int32_t out_zero, const std::function<F(F)>& f) {
  constexpr int kSteps = 512;
  constexpr F kLo = std::numeric_limits<int16_t>::min(), kHi = std::numeric_limits<int16_t>::max();
  const F x_lo = in_scale * static_cast<F>(-32768 - in_zero), x_hi = in_scale * static_cast<F>(32767 - in_zero);
  const F y_lo = out_scale * static_cast<F>(-32768 - out_zero), y_hi = out_scale * static_cast<F>(32767 - out_zero);
  const F step = (x_hi - x_lo) / kSteps, half = step / 2, inverse = static_cast<F>(65536) / (y_hi - y_lo);
  std::vector<int16_t> table;
  // What has no value, such as the logarithm of a negative number, is 0.
  const auto store = [&](F v) {
    table.push_back(std::isnan(v) ? int16_t{0} : static_cast<int16_t>(std::min<F>(std::max<F>(v, kLo), kHi)));
  };
  for (int i = 0; i < kSteps; ++i) {
    const F here = f(x_lo + static_cast<F>(i) * step), middle = f(x_lo + static_cast<F>(i) * step + half),
            next = f(x_lo + static_cast<F>(i + 1) * step);
    const F sample = std::round(here * inverse), between = std::round((next * inverse + std::round(here * inverse)) / 2);
    store(sample - std::round((between - std::round(middle * inverse)) / 2));
  }
  store(std::round(f(x_hi) * inverse));
  return table;
}

}  // namespace

std::vector<int16_t> table16(double in_scale, int32_t in_zero, double out_scale, int32_t out_zero, const std::function<double(double)>& f) {
  return make_table16<double>(in_scale, in_zero, out_scale, out_zero, f);
}
std::vector<int16_t> table16(float in_scale, int32_t in_zero, float out_scale, int32_t out_zero, const std::function<float(float)>& f) {
  return make_table16<float>(in_scale, in_zero, out_scale, out_zero, f);
}

Value* lut(Op& op, const std::function<float(float)>& f) {
  const Tensor &x = op.in(0), &y = op.out(0);
  if (!need_scale(op, x) || !need_scale(op, y)) return nullptr;
  if (x.dtype == DType::s16) {
    const std::vector<int16_t> table = table16(x.scale(), x.zero(), y.scale(), y.zero(), f);
    return op.b.op(OpId::q_lut16, ops::q_lut16::Attrs{}, {op.value(0), op.b.graph().constant<int16_t>({513}, table)});
  }
  const float inverse = 1.0f / y.scale();
  return lut8(op, op.value(0), y.dtype, [&](int32_t v) {
    const float transformed = f(x.scale() * static_cast<float>(v - x.zero()));
    return ops::round_to_s32(std::round(transformed * inverse) + static_cast<float>(y.zero()));
  });
}

}  // namespace mote::frontends::tflite
