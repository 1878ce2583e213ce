// Operators that take elements one by one: arithmetic, comparisons, bits, choices.

#include <cstring>

#include "mote/compiler/frontends/tosa/op.h"
#include "mote/ops/clip/clip.h"

namespace mote::frontends::tosa {
namespace {

OpId unary_of(fb::Op code) {
  switch (code) {
    case fb::Op::ABS: return OpId::abs;
    case fb::Op::BITWISE_NOT: return OpId::bitwise_not;
    case fb::Op::CEIL: return OpId::ceil;
    case fb::Op::COS: return OpId::cos;
    case fb::Op::ERF: return OpId::erf;
    case fb::Op::EXP: return OpId::exp;
    case fb::Op::FLOOR: return OpId::floor;
    case fb::Op::LOG: return OpId::log;
    case fb::Op::LOGICAL_NOT: return OpId::logical_not;
    case fb::Op::RECIPROCAL: return OpId::reciprocal;
    case fb::Op::RSQRT: return OpId::rsqrt;
    case fb::Op::SIGMOID: return OpId::sigmoid;
    case fb::Op::SIN: return OpId::sin;
    default: return OpId::tanh;
  }
}

OpId binary_of(fb::Op code) {
  switch (code) {
    case fb::Op::ADD: return OpId::add;
    case fb::Op::BITWISE_AND: return OpId::bitwise_and;
    case fb::Op::BITWISE_OR: return OpId::bitwise_or;
    case fb::Op::BITWISE_XOR: return OpId::bitwise_xor;
    case fb::Op::EQUAL: return OpId::equal;
    case fb::Op::GREATER: return OpId::greater;
    case fb::Op::GREATER_EQUAL: return OpId::greater_equal;
    case fb::Op::INTDIV: return OpId::div;
    case fb::Op::LOGICAL_AND: return OpId::logical_and;
    case fb::Op::LOGICAL_LEFT_SHIFT: return OpId::shift_left;
    case fb::Op::LOGICAL_OR: return OpId::logical_or;
    case fb::Op::LOGICAL_XOR: return OpId::logical_xor;
    case fb::Op::POW: return OpId::pow;
    default: return OpId::sub;
  }
}

DType unsigned_of(DType t) { return t == DType::s8 ? DType::u8 : t == DType::s16 ? DType::u16 : t == DType::s32 ? DType::u32 : t; }

// The element that the bytes of an attribute hold, as a scalar.
Value* bound(Op& op, const Vector<uint8_t>* bytes, DType t, const char* what) {
  const size_t width = dtype_bytes(t);
  if (bytes == nullptr || bytes->size() < width) {
    op.fail("expected " + std::to_string(width) + " bytes in '" + what + "', found " +
            std::to_string(bytes == nullptr ? 0 : bytes->size()));
    return nullptr;
  }
  if (t == DType::boolean || t == DType::kNone) {
    op.fail("expected numbers, found " + describe(op.in(0)));
    return nullptr;
  }
  return op.b.graph().add_constant(t, {}, ir::Bytes::copy_of(bytes->data(), width));
}

}  // namespace

void import_unary(Op& op) { op.set(op.op(unary_of(op.code()), {op.value(0)})); }

void import_binary(Op& op) { op.set(op.op(binary_of(op.code()), {op.value(0), op.value(1)})); }

void import_identity(Op& op) { op.set(op.value(0)); }

void import_select(Op& op) { op.set(op.where(op.value(0), op.value(1), op.value(2))); }

void import_logical_right_shift(Op& op) {
  Value *x = op.value(0), *count = op.value(1);
  const DType t = dtype_of_value(x), u = unsigned_of(t);
  op.set(op.bitcast(op.op(OpId::shift_right, {op.bitcast(x, u), op.bitcast(count, u)}), t));
}

// With rounding, the last bit that is shifted out is added.
void import_arithmetic_right_shift(Op& op) {
  Value *x = op.value(0), *count = op.value(1);
  Value* y = op.op(OpId::shift_right, {x, count});
  if (!op.attributes<fb::ArithmeticRightShiftAttribute>().round()) return op.set(y);
  Value* before = op.op(OpId::shift_right, {x, op.op(OpId::maximum, {op.add(count, -1), op.number(0, count)})});
  Value* last = op.op(OpId::bitwise_and, {before, op.number(1, x)});
  op.set(op.add(y, op.mul(last, op.cast(op.op(OpId::greater, {count, op.number(0, count)}), dtype_of_value(x)))));
}

// The exponent of the number as a double, which holds every u32 exactly; that of 0 is far below the others.
void import_clz(Op& op) {
  Value* x = op.cast(op.bitcast(op.value(0), DType::u32), DType::f64);
  Value* exponent = op.shift_right(op.bitcast(x, DType::s64), 52);
  Value* zeros = op.op(OpId::minimum, {op.sub(op.number(1023 + 31, DType::s64), exponent), op.number(32, DType::s64)});
  op.set(op.cast(zeros, DType::s32));
}

// Products of integers are s32; those of s32 are shifted to the right with rounding.
void import_mul(Op& op) {
  Value *x = op.value(0), *y = op.value(1);
  std::vector<int64_t> shift{0};
  if (!op.ok() || !op.need_ints(2, "shift", &shift, 1, 1)) return;
  if (is_float(dtype_of_value(x))) return op.set(op.mul(x, y));
  if (shift[0] < 0 || shift[0] > 63) return op.fail("expected a shift of 0 to 63, found " + std::to_string(shift[0]));
  if (shift[0] == 0) return op.set(op.mul(op.cast(x, DType::s32), op.cast(y, DType::s32)));
  Value* product = op.mul(op.cast(x, DType::s64), op.cast(y, DType::s64));
  Value* half = op.b.graph().scalar<int64_t>(int64_t{1} << (shift[0] - 1));
  op.set(op.cast(op.shift_right(op.add(product, half), shift[0]), DType::s32));
}

// MAXIMUM and MINIMUM. Where NaN is ignored, the other element counts.
void import_extreme(Op& op) {
  const bool max = op.code() == fb::Op::MAXIMUM;
  const auto mode = max ? op.attributes<fb::MaximumAttribute>().nan_mode() : op.attributes<fb::MinimumAttribute>().nan_mode();
  Value *x = op.value(0), *y = op.value(1);
  Value* best = op.op(max ? OpId::maximum : OpId::minimum, {x, y});
  if (is_float(dtype_of_value(x)) && mode == fb::NanPropagationMode::IGNORE)
    best = op.where(op.is_nan(x), y, op.where(op.is_nan(y), x, best));
  op.set(best);
}

// Where NaN is ignored, it becomes the lower bound.
void import_clamp(Op& op) {
  const auto& a = op.attributes<fb::ClampAttribute>();
  Value* x = op.value(0);
  if (!op.ok()) return;
  Value *lo = bound(op, a.min_val(), x->type.dtype, "min_val"), *hi = bound(op, a.max_val(), x->type.dtype, "max_val");
  if (!op.ok()) return;
  Value* y = op.b.op(OpId::clip, ops::clip::Attrs{}, {x, lo, hi});
  if (is_float(x->type.dtype) && a.nan_mode() == fb::NanPropagationMode::IGNORE) y = op.where(op.is_nan(x), lo, y);
  op.set(y);
}

// (0 - (x - input zero)) + output zero, saturated for 8 bits and 16 bits.
void import_negate(Op& op) {
  Value* x = op.value(0);
  const int64_t in_zero = op.zero(1, "input1_zp"), out_zero = op.zero(2, "output_zp");
  if (!op.ok()) return;
  const DType t = x->type.dtype;
  if (is_float(t) || (t == DType::s32 && in_zero == 0 && out_zero == 0)) return op.set(op.op(OpId::neg, {x}));
  const DType wide = t == DType::s32 ? DType::s64 : DType::s32;
  Value* y = op.sub(op.number(static_cast<double>(in_zero + out_zero), wide), op.cast(x, wide));
  const int64_t top = t == DType::s8 ? INT8_MAX : t == DType::s16 ? INT16_MAX : INT32_MAX;
  op.set(op.cast(op.clamp(y, -top - 1, top), t));
}

// Floats round to nearest even and saturate on their way to integers.
void import_cast(Op& op) {
  Value* x = op.value(0);
  const DType to = op.out().dtype;
  if (!op.ok()) return;
  if (to == DType::kNone) return op.fail("expected a plain number type, found " + describe(op.out()));
  if (is_float(x->type.dtype) && !is_float(to) && to != DType::boolean) x = op.op(OpId::round, {x});
  op.set(op.cast(x, to));
}

}  // namespace mote::frontends::tosa
