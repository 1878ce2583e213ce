#pragma once

// q_add on vectors (ops/common/quant_binary.h) as the end of a convolution with a residual, and rounding.

#include "mote/kernels/common/exact.h"
#include "mote/kernels/int8/fixed.h"
#include "mote/kernels/int8/operands.h"
#include "mote/ops/common/quant_binary.h"

namespace mote::kernels::MOTE_ISA_NAME {

using FloatOfInts = hn::Rebind<float, I32>;
using VFI = hn::Vec<FloatOfInts>;

// round(x), half to even, within [lo, hi] (at most 22 bits), NaN as 0; plus the zero point.
MOTE_INLINE VI round_within(VFI x, const Bounds& b) {
  const FloatOfInts d;
  x = hn::IfThenElseZero(hn::Eq(x, x), x);
  x = hn::Min(hn::Set(d, static_cast<float>(b.hi)), hn::Max(hn::Set(d, static_cast<float>(b.lo)), x));
  // Adding this leaves the whole number in the low bits.
  constexpr float kShifter = 12582912.0f;
  constexpr int32_t kShifterBits = 0x4b400000;
  return hn::Add(hn::BitCast(I32(), hn::Add(x, hn::Set(d, kShifter))), set_ints(b.zero - kShifterBits));
}
// To the nearest whole number, ties away from zero.
MOTE_INLINE VFI round_away(VFI x) {
  const FloatOfInts d;
  const VFI whole = hn::Trunc(x), rest = hn::Abs(hn::Sub(x, whole));
  return hn::Add(whole, hn::IfThenElseZero(hn::Ge(rest, hn::Set(d, 0.5f)), hn::CopySign(hn::Set(d, 1.0f), x)));
}
MOTE_INLINE VI clamp_within(VI v, const Bounds& b) {
  return hn::Add(hn::Min(set_ints(b.hi), hn::Max(set_ints(b.lo), v)), set_ints(b.zero));
}

// Divides by one number, the quotient rounded as always. Most processors do that by multiplying with the reciprocal and putting the result
// right twice (Markstein) faster than by dividing; what is large or not a number is left as it is, far from any integer type.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(float by) : by_(by), reciprocal_(1.0f / by) { quick_ = can_be_quick(by); }
  static constexpr float kLarge = 1e6f;
  // Neither the divisor nor anything on the way to quotients that matter is denormal.
  static MOTE_INLINE bool can_be_quick(float by) {
    const float size = by < 0 ? -by : by;
    return HWY_NATIVE_FMA != 0 && size > 1e-9f && size < 1e9f;
  }
  MOTE_INLINE VFI operator()(VFI x) const {
    const FloatOfInts d;
    if (!quick_) return quotient(x, hn::Set(d, by_));
    const VFI first = hn::Mul(x, hn::Set(d, reciprocal_));
    return hn::IfThenElse(hn::Lt(hn::Abs(first), hn::Set(d, kLarge)), corrected(x, first), first);
  }
  // The same where that divisor can be quick and quotients are below kLarge.
  MOTE_INLINE VFI quick(VFI x) const { return corrected(x, hn::Mul(x, hn::Set(FloatOfInts(), reciprocal_))); }

 private:
  MOTE_INLINE VFI corrected(VFI x, VFI first) const {
    const FloatOfInts d;
    const VFI by = hn::Set(d, by_), reciprocal = hn::Set(d, reciprocal_);
    const VFI near = hn::MulAdd(hn::NegMulAdd(first, by, x), reciprocal, first);
    return hn::MulAdd(hn::NegMulAdd(near, by, x), reciprocal, near);
  }
  float by_ = 1, reciprocal_ = 1;
  bool quick_ = false;
};

// a + b.
class SumOf {
 public:
  SumOf(const ops::QuantBinaryAttrs& a, DType type)
      : bounds_(a.clamp_lo, a.clamp_hi, a.y_zero, type), real_(a.mode == static_cast<uint32_t>(ops::QuantMode::kReal)) {
    a_zero_ = a.a_zero, b_zero_ = a.b_zero, left_ = a.left_shift;
    a_ = Factor::make(a.a_multiplier, a.a_shift);
    b_ = Factor::make(a.b_multiplier, a.b_shift);
    y_ = Factor::make(a.y_multiplier, a.y_shift);
    simple_ = Factor::is_simple(a.a_multiplier, a.a_shift) && Factor::is_simple(a.b_multiplier, a.b_shift) &&
              Factor::is_simple(a.y_multiplier, a.y_shift);
    a_scale_ = a.a_scale, b_scale_ = a.b_scale, y_scale_ = Divisor(a.y_scale);
  }
  static bool can(const ops::QuantBinaryAttrs& a) { return a.mode != static_cast<uint32_t>(ops::QuantMode::kShift); }

  MOTE_INLINE VI operator()(VI a, VI b) const {
    a = hn::Sub(a, set_ints(a_zero_));
    b = hn::Sub(b, set_ints(b_zero_));
    if (real_) return real(a, b);
    const auto left = set_ints(left_);
    a = hn::Shl(a, left);
    b = hn::Shl(b, left);
    return simple_ ? fixed<true>(a, b) : fixed<false>(a, b);
  }

 private:
  template <bool Simple>
  MOTE_INLINE VI fixed(VI a, VI b) const {
    const VI p = a_.scale<Simple>(a), q = b_.scale<Simple>(b);
    return clamp_within(y_.scale<Simple>(hn::Add(p, q)), bounds_);
  }
  MOTE_INLINE VI real(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, a), hn::Set(d, a_scale_)), q = hn::Mul(hn::ConvertTo(d, b), hn::Set(d, b_scale_));
    return round_within(y_scale_(hn::Add(p, q)), bounds_);
  }

  Factor a_, b_, y_;
  Bounds bounds_;
  int32_t a_zero_, b_zero_, left_;
  float a_scale_, b_scale_;
  Divisor y_scale_;
  bool real_, simple_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
