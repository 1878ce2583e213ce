// Functions of one element: activations, roots, logarithms, rounding. Quantized ones of 8 and 16 bits become tables.

#include <cmath>
#include <limits>

#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/fixed_point.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/q_lut16/q_lut16.h"
#include "mote/ops/q_prelu/q_prelu.h"

namespace mote::frontends::tflite {
namespace {

OpId plain_operator(BuiltinOperator code) {
  switch (code) {
    case BuiltinOperator::ABS: return OpId::abs;
    case BuiltinOperator::NEG: return OpId::neg;
    case BuiltinOperator::SIGN: return OpId::sign;
    case BuiltinOperator::CEIL: return OpId::ceil;
    case BuiltinOperator::FLOOR: return OpId::floor;
    case BuiltinOperator::ROUND: return OpId::round;
    case BuiltinOperator::SQRT: return OpId::sqrt;
    case BuiltinOperator::RSQRT: return OpId::rsqrt;
    case BuiltinOperator::SQUARE: return OpId::square;
    case BuiltinOperator::EXP: return OpId::exp;
    case BuiltinOperator::LOG: return OpId::log;
    case BuiltinOperator::SIN: return OpId::sin;
    case BuiltinOperator::COS: return OpId::cos;
    case BuiltinOperator::TANH: return OpId::tanh;
    case BuiltinOperator::LOGISTIC: return OpId::sigmoid;
    case BuiltinOperator::HARD_SWISH: return OpId::hard_swish;
    case BuiltinOperator::LOGICAL_NOT: return OpId::logical_not;
    default: return OpId::kNone;
  }
}

// |x| with its own rescaling, which is left out when the scales agree.
Value* quantized_abs(Op& op) {
  const Tensor &x = op.in(0), &y = op.out();
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale() / y.scale()));
  const bool same = x.scale() == y.scale();
  if (x.dtype == DType::s16) {
    Value* v = op.b.op(OpId::abs, {op.b.cast(op.value(0), DType::s32)});
    return requantize(op, v, 0, same ? quantize_multiplier(1) : m, y.zero(), DType::s16, type_range(DType::s16));
  }
  return lut8(op, op.value(0), y.dtype, [&](int32_t v) {
    const int32_t a = std::abs(v - x.zero());
    return (same ? a : apply(m, a)) + y.zero();
  });
}

Value* quantized_rsqrt(Op& op) {
  const Tensor &x = op.in(0), &y = op.out();
  if (x.dtype == DType::s16) return lut(op, [&](float v) { return v <= 0 ? 32767 * y.scale() : 1.0f / std::sqrt(v); });
  const Multiplier m = quantize_multiplier(1.0 / static_cast<double>(std::sqrt(x.scale()) * y.scale()));
  constexpr int kShift = 20;
  return lut8(op, op.value(0), y.dtype, [&](int32_t v) {
    const int32_t value = v - x.zero();
    if (value <= 0) return 127;
    int32_t multiplier, shift;
    ops::inverse_sqrt(value, &multiplier, &shift);
    const int32_t inverse = ops::scale_by(1, multiplier, shift + kShift);
    return ops::scale_by(inverse, m.value, m.shift - kShift) + y.zero();
  });
}

// TensorFlow Lite's table for int16 LOGISTIC and TANH: sigmoid(i / 24) with 16 bits of fraction. Its entries are the rounded values but for
// these, which are one higher (measured).
std::vector<uint16_t> sigmoid_table() {
  constexpr uint8_t kHigher[] = {4,  8,  12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31,  33,  34,  35,  37,  39,
                                 40, 41, 43, 44, 45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
  std::vector<uint16_t> table(256);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<uint16_t>(std::min(65535.0, std::round(65536.0 / (1.0 + std::exp(-static_cast<double>(i) / 24.0)))));
  for (const uint8_t i : kHigher) ++table[i];
  return table;
}

// Its LOGISTIC and TANH of int16: the table, and a multiplier that brings x to 1 / (3 * 4096).
Value* gate16(Op& op, bool tanh) {
  const double scale = op.in(0).scale();
  int exponent = 0;
  const bool power_of_two = std::frexp(scale, &exponent) == 0.5;
  const int left = 12 + exponent - 1;  // log2(scale) is exponent - 1
  ops::q_lut16::Attrs a;
  a.kind = static_cast<uint32_t>(tanh ? ops::q_lut16::Kind::kTanh : ops::q_lut16::Kind::kLogistic);
  if (power_of_two && (left == 0 || (tanh && left == 1))) {
    a.shift = 0;
    a.multiplier = 3 << left;
  } else {
    double multiplier = scale * 4096.0 * 3.0;
    for (a.shift = 0; multiplier <= 32767.0 / 2.0 && a.shift <= 30;) {
      ++a.shift;
      multiplier *= 2.0;
    }
    a.multiplier = static_cast<int32_t>(multiplier);
  }
  return op.b.op(OpId::q_lut16, a, {op.value(0), op.b.graph().constant<uint16_t>({256}, sigmoid_table())});
}

int16_t high_product(int16_t a, int16_t b) { return ops::doubling_high_mul<int16_t>(a, b); }
// The high product without rounding, as the output stage of HARD_SWISH has it.
int16_t plain_high_product(int16_t a, int16_t b) {
  return a == b && a == std::numeric_limits<int16_t>::min() ? std::numeric_limits<int16_t>::max()
                                                            : static_cast<int16_t>((int32_t{a} * b) / (1 << 15));
}
int16_t saturating_shift(int32_t v, int n) { return ops::saturate_to<int16_t>(int64_t{v} * (int64_t{1} << n)); }
int16_t narrow(Multiplier m) {
  constexpr int32_t kHalf = 1 << 15;
  return m.value >= std::numeric_limits<int32_t>::max() - kHalf ? std::numeric_limits<int16_t>::max()
                                                                : static_cast<int16_t>((m.value + kHalf) >> 16);
}

Value* quantized_hard_swish(Op& op) {
  const Tensor &x = op.in(0), &y = op.out();
  const float fine_scale = (1.0f / 128.0f) * x.scale(), relu_scale = 3.0f / 32768.0f;
  const Multiplier out = quantize_multiplier(static_cast<double>(fine_scale / y.scale()));
  const Multiplier relu = quantize_multiplier(static_cast<double>(fine_scale / relu_scale));
  if (out.shift > 0) {
    op.fail("the output's scale is too small for the input's");
    return nullptr;
  }
  return lut8(op, op.value(0), y.dtype, [&](int32_t v) {
    const int16_t fine = static_cast<int16_t>((v - x.zero()) * (1 << 7));
    const int16_t scaled = high_product(fine, narrow(out));
    int16_t gate = fine;
    if (relu.shift > 0) gate = saturating_shift(gate, relu.shift - 1);
    gate = high_product(gate, narrow(relu));
    if (relu.shift > 0) gate = saturating_shift(gate, 1);
    if (relu.shift < 0) gate = static_cast<int16_t>(ops::rounding_shift_right(gate, -relu.shift));
    gate = static_cast<int16_t>((gate + (1 << 15)) >> 1);
    const int16_t product = plain_high_product(gate, scaled);
    return ops::rounding_shift_right(product, -out.shift) + y.zero();
  });
}

Value* quantized_function(Op& op) {
  const Tensor& y = op.out();
  switch (op.code()) {
    case BuiltinOperator::ABS: return quantized_abs(op);
    case BuiltinOperator::RSQRT: return quantized_rsqrt(op);
    case BuiltinOperator::HARD_SWISH:
      if (op.type_in(0) != DType::s16) return quantized_hard_swish(op);
      break;
    case BuiltinOperator::LOGISTIC:
    case BuiltinOperator::TANH: {
      const bool tanh = op.code() == BuiltinOperator::TANH;
      if (op.type_in(0) == DType::s16) return gate16(op, tanh);
      return tanh ? lut(op, [](float v) { return std::tanh(v); }) : lut(op, [](float v) { return 1.0f / (1.0f + std::exp(-v)); });
    }
    case BuiltinOperator::EXP: return lut(op, [](float v) { return std::exp(v); });
    case BuiltinOperator::LOG: {
      const float least = static_cast<float>(type_range(y.dtype).lo - y.zero()) * y.scale();
      return lut(op, [least](float v) { return v <= 0 ? least : std::log(v); });
    }
    case BuiltinOperator::SQRT: return lut(op, [](float v) { return std::sqrt(v); });
    default: break;
  }
  op.fail("the operator is not supported on quantized numbers", "keep this operator in float when quantizing");
  return nullptr;
}

}  // namespace

void import_unary(Op& op) {
  // TensorFlow Lite negates the integers themselves, whatever zero they stand for.
  if (!quantized(op) || op.code() == BuiltinOperator::NEG) return op.set(op.b.op(plain_operator(op.code()), {op.value(0)}));
  if (need_scale(op, op.in(0)) && need_scale(op, op.out())) op.set(quantized_function(op));
}

void import_relu(Op& op) {
  float lo = 0, hi = std::numeric_limits<float>::infinity();
  if (op.code() == BuiltinOperator::RELU6) hi = 6;
  if (op.code() == BuiltinOperator::RELU_0_TO_1) hi = 1;
  if (op.code() == BuiltinOperator::RELU_N1_TO_1) lo = -1, hi = 1;
  if (!quantized(op)) {
    if (op.code() == BuiltinOperator::RELU) return op.set(op.b.op(OpId::relu, {op.value(0)}));
    return op.set(op.b.op(OpId::clip, ops::clip::Attrs{lo, hi}, {op.value(0)}));
  }
  const Tensor &x = op.in(0), &y = op.out();
  if (!need_scale(op, x) || !need_scale(op, y)) return;
  const Range range = real_range(y, lo, hi);
  if (same_quant(x, y)) return op.set(clip_to(op, op.value(0), range));
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale() / y.scale()));
  op.set(requantize(op, op.value(0), x.zero(), m, y.zero(), y.dtype, range));
}

void import_leaky_relu(Op& op) {
  const float alpha = op.options<fb::LeakyReluOptions>().alpha();
  if (!quantized(op)) return op.set(op.b.op(OpId::leaky_relu, ops::leaky_relu::Attrs{alpha}, {op.value(0)}));
  const Tensor &x = op.in(0), &y = op.out();
  if (!need_scale(op, x) || !need_scale(op, y)) return;
  const Multiplier keep = quantize_multiplier(static_cast<double>(x.scale() / y.scale()));
  const Multiplier slope = quantize_multiplier(static_cast<double>(x.scale() * alpha / y.scale()));
  const ops::q_prelu::Attrs a{x.zero(), 0, y.zero(), keep.value, keep.shift, slope.value, slope.shift};
  if (x.dtype == DType::s16) return op.set(op.b.op(OpId::q_prelu, a, {op.value(0), op.b.graph().constant<int16_t>({1}, {1})}));
  op.set(lut8(op, op.value(0), y.dtype, [&](int32_t v) { return apply(v >= x.zero() ? keep : slope, v - x.zero()) + y.zero(); }));
}

void import_prelu(Op& op) {
  if (!quantized(op)) return op.set(op.b.op(OpId::prelu, {op.value(0), op.value(1)}));
  const Tensor &x = op.in(0), &slope = op.in(1), &y = op.out();
  if (!need_scale(op, x) || !need_scale(op, slope) || !need_scale(op, y)) return;
  const Multiplier keep = quantize_multiplier(static_cast<double>(x.scale() / y.scale()));
  const Multiplier scaled = quantize_multiplier(static_cast<double>(x.scale() * slope.scale() / y.scale()));
  const ops::q_prelu::Attrs a{x.zero(), slope.zero(), y.zero(), keep.value, keep.shift, scaled.value, scaled.shift};
  op.set(op.b.op(OpId::q_prelu, a, {op.value(0), op.value(1)}));
}

void import_elu(Op& op) {
  if (!quantized(op)) return op.set(op.b.op(OpId::elu, ops::elu::Attrs{}, {op.value(0)}));
  op.set(lut(op, [](float v) { return v < 0 ? std::expm1(v) : v; }));
}

void import_gelu(Op& op) {
  const bool approximate = op.options<fb::GeluOptions>().approximate();
  if (!quantized(op)) return op.set(op.b.op(OpId::gelu, ops::gelu::Attrs{approximate ? 1 : 0}, {op.value(0)}));
  // The formulas as TensorFlow Lite writes them: 2 / sqrt(pi) / sqrt(2), and 0.5 x erfc(-x / sqrt(2)).
  constexpr float kTwoOverSqrtPi = 1.12837916709551257390f, kSqrtHalf = 0.70710678118654752440f;
  op.set(lut(op, [approximate](float v) {
    if (approximate) return 0.5f * v * (1.0f + std::tanh(kTwoOverSqrtPi * kSqrtHalf * (v + 0.044715f * v * v * v)));
    return 0.5f * v * std::erfc(v * -kSqrtHalf);
  }));
}

}  // namespace mote::frontends::tflite
