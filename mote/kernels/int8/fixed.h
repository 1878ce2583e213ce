#pragma once

// TFLite's fixed-point arithmetic (ops/common/fixed_point.h) on vectors, bit for bit.

#include "mote/kernels/int8/lanes.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kLeast = -0x7fffffff - 1;

// (a * b + 2^30) / 2^31 rounded down. a and b must not both be the least value.
// x / 2^n rounded down, n from 0 to 30.
#if HWY_ARCH_WASM
#include "mote/kernels/int8/fixed_wasm.h"
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

// x / 2^(less_one + 1) to nearest, ties away from zero; x is not the least value.
MOTE_INLINE VI rounding_shift_right(VI x, VI less_one) {
  const VI down = hn::Add(x, hn::ShiftRight<31>(x));
  return hn::ShiftRight<1>(hn::Add(shift_right(down, less_one), set_ints(1)));
}

// How s32 are scaled: x << left, times the multiplier / 2^31, rounding shift right. Every vector of these is made from 32-bit
// multipliers and shifts with make().
struct Factor {
  VI multiplier, left, right;  // right: less one, -1 where there is nothing to shift

  static MOTE_INLINE Factor make(VI multiplier, VI shift) {
    const VI zero = hn::Zero(I32()), most = set_ints(31);
    const VI right = hn::Min(most, hn::Max(zero, hn::Neg(hn::Max(shift, set_ints(-31)))));
    return {multiplier, hn::Min(most, hn::Max(zero, shift)), hn::Sub(right, set_ints(1))};
  }
  static MOTE_INLINE Factor make(int32_t multiplier, int32_t shift) { return make(set_ints(multiplier), set_ints(shift)); }

  // True for multipliers that are not the least value and shifts to the right.
  static bool is_simple(int32_t multiplier, int32_t shift) { return multiplier != kLeast && shift < 0 && shift >= -31; }

  // The same for each lane of the factor made with this shift.
  MOTE_INLINE hn::Mask<I32> is_simple(VI shift) const {
    return hn::And(hn::Ne(multiplier, set_ints(kLeast)), hn::And(hn::Lt(shift, hn::Zero(I32())), hn::Gt(shift, set_ints(-32))));
  }

  // Simple: every lane is_simple().
  template <bool Simple>
  MOTE_INLINE VI scale(VI x) const {
    if constexpr (Simple) return rounding_shift_right(high_mul(x, multiplier), right);
    x = hn::Shl(x, left);
    const VI least = set_ints(kLeast), zero = hn::Zero(I32());
    const VI product = hn::IfThenElse(hn::And(hn::Eq(x, least), hn::Eq(multiplier, least)), set_ints(0x7fffffff), high_mul(x, multiplier));
    return hn::IfThenElse(hn::Lt(right, zero), product, rounding_shift_right(product, hn::Max(right, zero)));
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME
