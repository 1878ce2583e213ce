#pragma once

// q_add on vectors (ops/common/quant_binary.h), which the epilogue of a convolution with a residual applies, and the rounding it shares
// with other requantizing kernels.

#include "mote/kernels/common/exact.h"
#include "mote/kernels/int8/requantize/fixed_point.h"
#include "mote/kernels/int8/requantize/operands.h"
#include "mote/ops/common/quant_binary.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using FloatOfInts = hn::Rebind<float, I32>;
using VFI = hn::Vec<FloatOfInts>;

// Rounds x half to even, clamps to [lo, hi] (bounds of at most 22 bits) and adds the zero point; NaN counts as 0.
MOTE_INLINE VI round_clamp_and_offset(VFI x, const ClampRange& b) {
  const FloatOfInts d;
  x = hn::IfThenElseZero(hn::Eq(x, x), x);
  x = hn::Min(hn::Set(d, static_cast<float>(b.hi)), hn::Max(hn::Set(d, static_cast<float>(b.lo)), x));
  // 1.5 * 2^23: the sum's low mantissa bits are x rounded to an integer.
  constexpr float kShifter = 12582912.0f;
  constexpr int32_t kShifterBits = 0x4b400000;
  return hn::Add(hn::BitCast(I32(), hn::Add(x, hn::Set(d, kShifter))), set_ints(b.zero - kShifterBits));
}
// Rounds half away from zero.
MOTE_INLINE VFI round_half_away(VFI x) {
  const FloatOfInts d;
  const VFI truncated = hn::Trunc(x), fraction = hn::Abs(hn::Sub(x, truncated));
  return hn::Add(truncated, hn::IfThenElseZero(hn::Ge(fraction, hn::Set(d, 0.5f)), hn::CopySign(hn::Set(d, 1.0f), x)));
}
MOTE_INLINE VI clamp_and_offset(VI v, const ClampRange& b) {
  return hn::Add(hn::Min(set_ints(b.hi), hn::Max(set_ints(b.lo), v)), set_ints(b.zero));
}

// Division by a loop invariant with the correctly rounded quotient. With FMA, the product with the reciprocal and two Markstein corrections
// are faster than a division and give the same bits. Quotients above kMaxQuotient, infinities and NaN are not corrected: they saturate in
// any integer type.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(float divisor) : divisor_(divisor), reciprocal_(1.0f / divisor) { use_reciprocal_ = can_use_reciprocal(divisor); }
  static constexpr float kMaxQuotient = 1e6f;
  // True where neither the divisor nor an intermediate result of a quotient below kMaxQuotient is denormal, so that the corrections are
  // exact.
  static MOTE_INLINE bool can_use_reciprocal(float divisor) {
    const float magnitude = divisor < 0 ? -divisor : divisor;
    return HWY_NATIVE_FMA != 0 && magnitude > 1e-9f && magnitude < 1e9f;
  }
  MOTE_INLINE VFI operator()(VFI x) const {
    const FloatOfInts d;
    if (!use_reciprocal_) return quotient(x, hn::Set(d, divisor_));
    const VFI estimate = hn::Mul(x, hn::Set(d, reciprocal_));
    return hn::IfThenElse(hn::Lt(hn::Abs(estimate), hn::Set(d, kMaxQuotient)), corrected(x, estimate), estimate);
  }
  // Without the checks: the caller has asked can_use_reciprocal() and knows that quotients are below kMaxQuotient.
  MOTE_INLINE VFI divide_in_range(VFI x) const { return corrected(x, hn::Mul(x, hn::Set(FloatOfInts(), reciprocal_))); }

 private:
  MOTE_INLINE VFI corrected(VFI x, VFI estimate) const {
    const FloatOfInts d;
    const VFI divisor = hn::Set(d, divisor_), reciprocal = hn::Set(d, reciprocal_);
    const VFI refined = hn::MulAdd(hn::NegMulAdd(estimate, divisor, x), reciprocal, estimate);
    return hn::MulAdd(hn::NegMulAdd(refined, divisor, x), reciprocal, refined);
  }
  float divisor_ = 1, reciprocal_ = 1;
  bool use_reciprocal_ = false;
};

// Computes a + b for s32 vectors of quantized values, in fixed point or with real scales, any attributes but QuantMode::kShift.
class AddResidual {
 public:
  AddResidual(const ops::QuantBinaryAttrs& a, DType type)
      : bounds_(a.clamp_lo, a.clamp_hi, a.y_zero, type), real_(a.mode == static_cast<uint32_t>(ops::QuantMode::kReal)) {
    a_zero_ = a.a_zero, b_zero_ = a.b_zero, left_shift_ = a.left_shift;
    a_ = FixedPointScale::make(a.a_multiplier, a.a_shift);
    b_ = FixedPointScale::make(a.b_multiplier, a.b_shift);
    y_ = FixedPointScale::make(a.y_multiplier, a.y_shift);
    right_shift_only_ = FixedPointScale::right_shift_only(a.a_multiplier, a.a_shift) &&
                        FixedPointScale::right_shift_only(a.b_multiplier, a.b_shift) &&
                        FixedPointScale::right_shift_only(a.y_multiplier, a.y_shift);
    a_scale_ = a.a_scale, b_scale_ = a.b_scale, y_scale_ = Divisor(a.y_scale);
  }
  static bool supports(const ops::QuantBinaryAttrs& a) { return a.mode != static_cast<uint32_t>(ops::QuantMode::kShift); }

  MOTE_INLINE VI operator()(VI a, VI b) const {
    a = hn::Sub(a, set_ints(a_zero_));
    b = hn::Sub(b, set_ints(b_zero_));
    if (real_) return add_real(a, b);
    const auto left_shift = set_ints(left_shift_);
    a = hn::Shl(a, left_shift);
    b = hn::Shl(b, left_shift);
    return right_shift_only_ ? add_fixed_point<true>(a, b) : add_fixed_point<false>(a, b);
  }

 private:
  template <bool RightShiftOnly>
  MOTE_INLINE VI add_fixed_point(VI a, VI b) const {
    const VI p = a_.scale<RightShiftOnly>(a), q = b_.scale<RightShiftOnly>(b);
    return clamp_and_offset(y_.scale<RightShiftOnly>(hn::Add(p, q)), bounds_);
  }
  MOTE_INLINE VI add_real(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, a), hn::Set(d, a_scale_)), q = hn::Mul(hn::ConvertTo(d, b), hn::Set(d, b_scale_));
    return round_clamp_and_offset(y_scale_(hn::Add(p, q)), bounds_);
  }

  FixedPointScale a_, b_, y_;
  ClampRange bounds_;
  int32_t a_zero_, b_zero_, left_shift_;
  float a_scale_, b_scale_;
  Divisor y_scale_;
  bool real_, right_shift_only_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
