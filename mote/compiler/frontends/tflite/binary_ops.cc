// Arithmetic and comparisons of two tensors, choices between them.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/quant.h"
#include "mote/ops/common/fixed_point.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/q_mul/q_mul.h"

namespace mote::frontends::tflite {
namespace {

bool need_scales(Op& op) { return need_scale(op, op.in(0)) && need_scale(op, op.in(1)) && need_scale(op, op.out()); }

// The exponent of a scale that is (nearly) a power of two.
bool log2_of(float scale, int* out) {
  const float log = std::log2(scale);
  *out = static_cast<int>(std::round(log));
  return std::abs(log - std::round(log)) < 1e-3f;
}

// ADD and SUB.
Value* quantized_sum(Op& op, OpId id, ActivationFunctionType act) {
  if (!need_scales(op)) return nullptr;
  const Tensor &x = op.in(0), &z = op.in(1), &y = op.out();
  const Range range = activation_range(op, act, y);
  ops::QuantBinaryAttrs a;
  a.a_zero = x.zero();
  a.b_zero = z.zero();
  a.y_zero = y.zero();
  a.clamp_lo = range.lo;
  a.clamp_hi = range.hi;
  int x_log = 0, z_log = 0, y_log = 0;
  const bool wide = y.dtype == DType::s16;
  const bool powers = wide && x.zero() == 0 && z.zero() == 0 && y.zero() == 0 && log2_of(x.scale(), &x_log) && log2_of(z.scale(), &z_log) &&
                      log2_of(y.scale(), &y_log);
  if (powers) {
    a.mode = static_cast<uint32_t>(ops::QuantMode::kShift);
    a.a_shift = x_log - y_log;
    a.b_shift = z_log - y_log;
    if ((a.a_shift != 0 && a.b_shift != 0) || a.a_shift > 0 || a.b_shift > 0)
      op.fail("one input must have the output's scale, the other a smaller one");
    return op.b.op(id, a, {op.value(0), op.value(1)});
  }
  a.left_shift = wide ? 15 : 20;
  const double twice = static_cast<double>(2 * std::max(x.scale(), z.scale()));
  const Multiplier from_x = quantize_multiplier(static_cast<double>(x.scale()) / twice),
                   from_z = quantize_multiplier(static_cast<double>(z.scale()) / twice);
  const Multiplier to_y = quantize_multiplier(twice / static_cast<double>(static_cast<float>(1 << a.left_shift) * y.scale()));
  a.a_multiplier = from_x.value;
  a.a_shift = from_x.shift;
  a.b_multiplier = from_z.value;
  a.b_shift = from_z.shift;
  a.y_multiplier = to_y.value;
  a.y_shift = to_y.shift;
  return op.b.op(id, a, {op.value(0), op.value(1)});
}

Value* quantized_product(Op& op, ActivationFunctionType act) {
  if (!need_scales(op)) return nullptr;
  const Tensor &x = op.in(0), &z = op.in(1), &y = op.out();
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale() * z.scale() / y.scale()));
  const Range range = activation_range(op, act, y);
  ops::q_mul::Attrs a;
  a.a_zero = x.zero();
  a.b_zero = z.zero();
  a.y_zero = y.zero();
  a.multiplier = m.value;
  a.shift = m.shift;
  a.clamp_lo = range.lo;
  a.clamp_hi = range.hi;
  return op.b.op(OpId::q_mul, a, {op.value(0), op.value(1)});
}

}  // namespace

void import_add(Op& op) {
  const ActivationFunctionType act = op.options<fb::AddOptions>().fused_activation_function();
  op.set(quantized(op) ? quantized_sum(op, OpId::q_add, act) : activate(op, op.b.op(OpId::add, {op.value(0), op.value(1)}), act));
}

void import_sub(Op& op) {
  const ActivationFunctionType act = op.options<fb::SubOptions>().fused_activation_function();
  op.set(quantized(op) ? quantized_sum(op, OpId::q_sub, act) : activate(op, op.b.op(OpId::sub, {op.value(0), op.value(1)}), act));
}

void import_mul(Op& op) {
  const ActivationFunctionType act = op.options<fb::MulOptions>().fused_activation_function();
  op.set(quantized(op) ? quantized_product(op, act) : activate(op, op.b.op(OpId::mul, {op.value(0), op.value(1)}), act));
}

namespace {

// x / z of 8 bits, rounded as TensorFlow Lite does: by the fixed-point reciprocal of z.
int32_t quotient(int32_t x, int32_t z, Multiplier m) {
  if (z < 0) x = -x, z = -z;
  int over_unit = 0;
  const int32_t inverse = ops::reciprocal_of(z, 31, &over_unit);
  const int headroom = ops::leading_zeros(x >= 0 ? static_cast<uint32_t>(x) : 2 * static_cast<uint32_t>(-x) - 1) - (x >= 0 ? 1 : 0);
  const int32_t unscaled = ops::doubling_high_mul(ops::wrapping_shift_left(x, headroom), inverse);
  const int shift = over_unit + headroom - m.shift;
  return ops::rounding_shift_right(ops::doubling_high_mul(unscaled, m.value), ops::clamp_to(shift, 0, 31));
}

// A table of all pairs; of one column where the divisor is one constant. Division by 0, which TensorFlow Lite refuses, gives the largest
// number.
Value* quantized_quotient(Op& op, ActivationFunctionType act) {
  const Tensor &x = op.in(0), &z = op.in(1), &y = op.out();
  if (!need_scales(op)) return nullptr;
  if (x.dtype == DType::s16 || z.dtype != x.dtype || y.dtype != x.dtype) {
    op.fail("DIV on quantized numbers of 16 bits is not supported",
            "multiply by the reciprocal, or keep this operator in float when quantizing");
    return nullptr;
  }
  const Multiplier m = quantize_multiplier(static_cast<double>(x.scale() / (z.scale() * y.scale())));
  const Range clamp = activation_range(op, act, y), range = type_range(x.dtype);
  const auto f = [&](int32_t a, int32_t b) {
    return ops::clamp_to(b == z.zero() ? INT32_MAX : int64_t{quotient(a - x.zero(), b - z.zero(), m)} + y.zero(), clamp.lo, clamp.hi);
  };
  std::vector<int64_t> divisor;
  if (op.ints(1, &divisor) && divisor.size() == 1 && rank_of(op.value(1)) <= rank_of(op.value(0)))
    return lut8(op, op.value(0), y.dtype, [&](int32_t a) { return f(a, static_cast<int32_t>(divisor[0])); });
  std::vector<uint8_t> table;
  for (int32_t a = range.lo; a <= range.hi; ++a)
    for (int32_t b = range.lo; b <= range.hi; ++b) table.push_back(static_cast<uint8_t>(f(a, b)));
  Words w(op.b);
  Value* row = w.mul(w.add(w.cast(op.value(0), DType::s32), -static_cast<double>(range.lo)), 256);
  Value* at = w.add(row, w.add(w.cast(op.value(1), DType::s32), -static_cast<double>(range.lo)));
  return w.gather(op.b.graph().add_constant(y.dtype, {65536}, ir::Bytes::own(std::move(table))), at, 0);
}

}  // namespace

void import_div(Op& op) {
  const ActivationFunctionType act = op.options<fb::DivOptions>().fused_activation_function();
  op.set(quantized(op) ? quantized_quotient(op, act) : activate(op, op.b.op(OpId::div, {op.value(0), op.value(1)}), act));
}

void import_add_n(Op& op) {
  Value* sum = op.value(0);
  for (uint32_t i = 1; i < op.inputs() && op.need({i}); ++i) sum = op.b.op(OpId::add, {sum, op.value(i)});
  op.set(sum);
}

// Both brought to one scale with 7 more bits, subtracted, squared.
void import_squared_difference(Op& op) {
  if (!quantized(op)) return op.set(op.b.op(OpId::squared_difference, {op.value(0), op.value(1)}));
  if (!need_scales(op)) return;
  const Tensor &x = op.in(0), &z = op.in(1), &y = op.out();
  if (y.dtype == DType::s16)
    return op.fail("SQUARED_DIFFERENCE on quantized numbers of 16 bits is not supported", "keep this operator in float when quantizing");
  constexpr int kShift = 7;
  const double twice = 2.0 * static_cast<double>(std::max(x.scale(), z.scale()));
  Value* a = rescale(op, op.value(0), x.zero(), kShift, quantize_multiplier(static_cast<double>(x.scale()) / twice));
  Value* b = rescale(op, op.value(1), z.zero(), kShift, quantize_multiplier(static_cast<double>(z.scale()) / twice));
  Value* square = op.b.op(OpId::square, {op.b.op(OpId::sub, {a, b})});
  const Multiplier m = quantize_multiplier(twice * twice / (static_cast<double>(1 << (2 * kShift)) * static_cast<double>(y.scale())));
  op.set(requantize(op, square, 0, m, y.zero(), y.dtype, type_range(y.dtype)));
}

namespace {

// Amounts are brought into what the type has bits for.
Value* right_shift(Op& op) {
  Words w(op.b);
  Value* by = op.value(1);
  const int bits = by == nullptr ? 1 : static_cast<int>(dtype_bits(by->type.dtype));
  if (by != nullptr) by = w.op(OpId::minimum, {w.op(OpId::maximum, {by, w.number(0, by)}), w.number(bits - 1, by)});
  return w.op(OpId::shift_right, {op.value(0), by});
}

}  // namespace

void import_binary(Op& op) {
  OpId id = OpId::kNone;
  const bool truth = op.type_in(0) == DType::boolean;
  switch (op.code()) {
    case BuiltinOperator::MAXIMUM: id = OpId::maximum; break;
    case BuiltinOperator::MINIMUM: id = OpId::minimum; break;
    case BuiltinOperator::FLOOR_DIV: id = OpId::floor_div; break;
    case BuiltinOperator::FLOOR_MOD: id = OpId::mod; break;
    case BuiltinOperator::POW: id = OpId::pow; break;
    case BuiltinOperator::ATAN2: id = OpId::atan2; break;
    case BuiltinOperator::LOGICAL_AND: id = OpId::logical_and; break;
    case BuiltinOperator::LOGICAL_OR: id = OpId::logical_or; break;
    case BuiltinOperator::BITWISE_XOR: id = OpId::bitwise_xor; break;
    case BuiltinOperator::RIGHT_SHIFT: return op.set(right_shift(op));
    case BuiltinOperator::STABLEHLO_ADD: id = truth ? OpId::logical_or : OpId::add; break;
    case BuiltinOperator::STABLEHLO_MULTIPLY: id = truth ? OpId::logical_and : OpId::mul; break;
    case BuiltinOperator::STABLEHLO_MAXIMUM: id = OpId::maximum; break;
    case BuiltinOperator::STABLEHLO_MINIMUM: id = OpId::minimum; break;
    case BuiltinOperator::STABLEHLO_AND: id = truth ? OpId::logical_and : OpId::bitwise_and; break;
    case BuiltinOperator::STABLEHLO_OR: id = truth ? OpId::logical_or : OpId::bitwise_or; break;
    case BuiltinOperator::STABLEHLO_SHIFT_LEFT: id = OpId::shift_left; break;
    default: break;
  }
  op.set(op.b.op(id, {op.value(0), op.value(1)}));
}

void import_comparison(Op& op) {
  OpId id = OpId::kNone;
  switch (op.code()) {
    case BuiltinOperator::EQUAL: id = OpId::equal; break;
    case BuiltinOperator::NOT_EQUAL: id = OpId::not_equal; break;
    case BuiltinOperator::LESS: id = OpId::less; break;
    case BuiltinOperator::LESS_EQUAL: id = OpId::less_equal; break;
    case BuiltinOperator::GREATER: id = OpId::greater; break;
    default: id = OpId::greater_equal; break;
  }
  Value *a = op.value(0), *b = op.value(1);
  const Tensor &x = op.in(0), &z = op.in(1);
  if (quantized(op)) {
    if (!need_scale(op, x) || !need_scale(op, z)) return;
    // Scales of at least 1/128 keep neighbours apart, so that equal scales need no arithmetic.
    if (!same_quant(x, z) || x.scale() < 1.0f / 128) {
      a = rescale(op, a, x.zero(), 8, quantize_multiplier(static_cast<double>(x.scale())));
      b = rescale(op, b, z.zero(), 8, quantize_multiplier(static_cast<double>(z.scale())));
    }
  }
  op.set(op.b.op(id, {a, b}));
}

// SELECT takes a condition of rank 1 for whole rows; SELECT_V2 broadcasts.
void import_select(Op& op) {
  Value *condition = op.value(0), *a = op.value(1), *b = op.value(2);
  if (!op.ok() || condition == nullptr || a == nullptr || b == nullptr) return op.fail("an input is missing");
  if (op.code() == BuiltinOperator::SELECT && condition->type.rank() == 1 && a->type.rank() > 1) {
    std::vector<int64_t> axes;
    for (int i = 1; i < a->type.rank(); ++i) axes.push_back(i);
    condition = op.b.unsqueeze(condition, axes);
  }
  op.set(op.b.op(OpId::where, {condition, a, b}));
}

}  // namespace mote::frontends::tflite
