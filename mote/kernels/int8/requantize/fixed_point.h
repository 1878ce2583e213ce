#pragma once

// TFLite's fixed-point arithmetic (ops/common/fixed_point.h) on vectors, bit for bit.

#include "mote/kernels/int8/requantize/lanes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

inline constexpr int32_t kInt32Min = -0x7fffffff - 1;

// shift_right(x, n): arithmetic shift, n from 0 to 30. high_mul(a, b): (a * b + 2^30) / 2^31 rounded down; a and b must not both be
// INT32_MIN.
#if HWY_ARCH_WASM
#include "mote/kernels/int8/requantize/fixed_point_wasm.h"
#else
MOTE_INLINE VI shift_right(VI x, VI n) { return hn::Shr(x, n); }
MOTE_INLINE VI high_mul(VI a, VI b) {
  const hn::Repartition<int64_t, I32> d64;
  const hn::RebindToUnsigned<decltype(d64)> u64;
  const auto half = hn::Set(d64, int64_t{1} << 30);
  const auto odd_a = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(u64, a))),
             odd_b = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(u64, b)));
  const auto even = hn::BitCast(u64, hn::Add(hn::MulEven(a, b), half)), odd = hn::BitCast(u64, hn::Add(hn::MulEven(odd_a, odd_b), half));
  return hn::OddEven(hn::BitCast(I32(), hn::ShiftLeft<1>(odd)), hn::BitCast(I32(), hn::ShiftRight<31>(even)));
}
#endif

// x / 2^(shift_minus_1 + 1), rounded half away from zero; x is not INT32_MIN.
MOTE_INLINE VI rounding_shift_right(VI x, VI shift_minus_1) {
  const VI biased = hn::Add(x, hn::ShiftRight<31>(x));
  return hn::ShiftRight<1>(hn::Add(shift_right(biased, shift_minus_1), set_ints(1)));
}

// A fixed-point scale as TFLite has it: x << left_shift, times multiplier / 2^31, then a rounding shift right. make() derives the fields
// from multipliers and signed shifts.
struct FixedPointScale {
  VI multiplier, left_shift, right_shift;  // right_shift is stored less 1; -1 means none

  static MOTE_INLINE FixedPointScale make(VI multiplier, VI shift) {
    const VI zero = hn::Zero(I32()), max_shift = set_ints(31);
    const VI right_shift = hn::Min(max_shift, hn::Max(zero, hn::Neg(hn::Max(shift, set_ints(-31)))));
    return {multiplier, hn::Min(max_shift, hn::Max(zero, shift)), hn::Sub(right_shift, set_ints(1))};
  }
  static MOTE_INLINE FixedPointScale make(int32_t multiplier, int32_t shift) { return make(set_ints(multiplier), set_ints(shift)); }

  // True for multipliers other than INT32_MIN with a right shift: scaling needs no left shift and cannot saturate.
  static bool right_shift_only(int32_t multiplier, int32_t shift) { return multiplier != kInt32Min && shift < 0 && shift >= -31; }

  // The same per lane, for a scale that make() derived from `shift`.
  MOTE_INLINE hn::Mask<I32> right_shift_only(VI shift) const {
    return hn::And(hn::Ne(multiplier, set_ints(kInt32Min)), hn::And(hn::Lt(shift, hn::Zero(I32())), hn::Gt(shift, set_ints(-32))));
  }

  // RightShiftOnly: right_shift_only() holds for every lane.
  template <bool RightShiftOnly>
  MOTE_INLINE VI scale(VI x) const {
    if constexpr (RightShiftOnly) return rounding_shift_right(high_mul(x, multiplier), right_shift);
    x = hn::Shl(x, left_shift);
    const VI int32_min = set_ints(kInt32Min), zero = hn::Zero(I32());
    const VI product =
        hn::IfThenElse(hn::And(hn::Eq(x, int32_min), hn::Eq(multiplier, int32_min)), set_ints(0x7fffffff), high_mul(x, multiplier));
    return hn::IfThenElse(hn::Lt(right_shift, zero), product, rounding_shift_right(product, hn::Max(right_shift, zero)));
  }
};

// FixedPointScale::scale<true> of many x below 2^30 in magnitude. Uniform: all lanes have one scale. AVX-512 folds both roundings into one
// addition, which needs constants for which 16 registers are too few.
template <bool Uniform = false>
class FastFixedPointScale {
 public:
  FastFixedPointScale() = default;

  MOTE_INLINE FastFixedPointScale(int32_t multiplier, int32_t shift) : FastFixedPointScale(set_ints(multiplier), set_ints(-shift - 1)) {}

#if defined(__AVX512F__)
  // right_shift is stored less 1, as in FixedPointScale. The high half of 2x * multiplier + 2^31 + 2^(32 + right_shift) is the result of
  // high_mul with the rounding half of the right shift already added. Where high_mul was negative (the high half is below that rounding
  // half), 1 is subtracted so that ties go away from zero.
  MOTE_INLINE FastFixedPointScale(VI multiplier, VI right_shift) : even_(multiplier), right_shift_(hn::Add(right_shift, set_ints(1))) {
    const auto half_of_high_mul = hn::Set(U64(), 0x80000000u);
    half_ = hn::Shl(set_ints(1), right_shift);
    even_add_ = hn::BitCast(I64(), hn::Add(hn::ShiftLeft<32>(hn::BitCast(U64(), half_)), half_of_high_mul));
    if constexpr (!Uniform) {
      odd_ = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(U64(), multiplier)));
      odd_add_ = hn::BitCast(I64(), hn::Add(hn::ShiftLeft<32>(hn::ShiftRight<32>(hn::BitCast(U64(), half_))), half_of_high_mul));
    }
  }
  MOTE_INLINE VI operator()(VI x) const {
    x = hn::Add(x, x);
    const VI odd_x = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(U64(), x)));
    const VI even = hn::BitCast(I32(), hn::Add(hn::MulEven(x, even_), even_add_)),
             odd = hn::BitCast(I32(), hn::Add(hn::MulEven(odd_x, Uniform ? even_ : odd_), Uniform ? even_add_ : odd_add_));
    const VI high{_mm512_mask_shuffle_epi32(odd.raw, 0x5555, even.raw, _MM_PERM_DDBB)};
    const VI rounded{_mm512_mask_add_epi32(high.raw, _mm512_cmplt_epi32_mask(high.raw, half_.raw), high.raw, _mm512_set1_epi32(-1))};
    return shift_right(rounded, right_shift_);
  }

 private:
  using I64 = hn::Repartition<int64_t, I32>;
  using U64 = hn::Repartition<uint64_t, I32>;
  VI even_, odd_, half_, right_shift_;
  hn::Vec<I64> even_add_, odd_add_;
#else
  MOTE_INLINE FastFixedPointScale(VI multiplier, VI right_shift) : multiplier_(multiplier), right_shift_(right_shift) {}
  MOTE_INLINE VI operator()(VI x) const { return rounding_shift_right(high_mul(x, multiplier_), right_shift_); }

 private:
  VI multiplier_, right_shift_;
#endif
};
inline constexpr int32_t kFastFixedPointMax = (1 << 30) - 1;  // bound of FastFixedPointScale's operand

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
