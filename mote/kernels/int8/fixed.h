#pragma once

// TFLite's fixed-point arithmetic (ops/common/fixed_point.h) on vectors, bit for bit.

#include "mote/kernels/int8/lanes.h"

namespace mote::kernels::MOTE_ISA_NAME {

inline constexpr int32_t kLeast = -0x7fffffff - 1;

// shift_right: x / 2^n rounded down, n from 0 to 30.
// high_mul: (a * b + 2^30) / 2^31 rounded down. a and b must not both be the least value.
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

// Factor::scale<true> of x below 2^30 in size, for many of them. Same: all lanes have the same factor. Sixteen registers are too few for
// the quicker way.
template <bool Same = false>
class SmallScale {
 public:
  SmallScale() = default;

  MOTE_INLINE SmallScale(int32_t multiplier, int32_t shift) : SmallScale(set_ints(multiplier), set_ints(-shift - 1)) {}

#if defined(__AVX512F__)
  // right: less one, as in Factor. 2x * multiplier + 2^31 + 2^(31 + shift): its high half is what high_mul gives, with the half that rounds
  // already added. Negative results of high_mul, those below that half now, are rounded less one.
  MOTE_INLINE SmallScale(VI multiplier, VI right) : even_(multiplier), right_(hn::Add(right, set_ints(1))) {
    const auto one = hn::Set(U64(), 0x80000000u);
    half_ = hn::Shl(set_ints(1), right);
    even_add_ = hn::BitCast(I64(), hn::Add(hn::ShiftLeft<32>(hn::BitCast(U64(), half_)), one));
    if constexpr (!Same) {
      odd_ = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(U64(), multiplier)));
      odd_add_ = hn::BitCast(I64(), hn::Add(hn::ShiftLeft<32>(hn::ShiftRight<32>(hn::BitCast(U64(), half_))), one));
    }
  }
  MOTE_INLINE VI operator()(VI x) const {
    x = hn::Add(x, x);
    const VI odd_x = hn::BitCast(I32(), hn::ShiftRight<32>(hn::BitCast(U64(), x)));
    const VI even = hn::BitCast(I32(), hn::Add(hn::MulEven(x, even_), even_add_)),
             odd = hn::BitCast(I32(), hn::Add(hn::MulEven(odd_x, Same ? even_ : odd_), Same ? even_add_ : odd_add_));
    const VI high{_mm512_mask_shuffle_epi32(odd.raw, 0x5555, even.raw, _MM_PERM_DDBB)};
    const VI less{_mm512_mask_add_epi32(high.raw, _mm512_cmplt_epi32_mask(high.raw, half_.raw), high.raw, _mm512_set1_epi32(-1))};
    return shift_right(less, right_);
  }

 private:
  using I64 = hn::Repartition<int64_t, I32>;
  using U64 = hn::Repartition<uint64_t, I32>;
  VI even_, odd_, half_, right_;
  hn::Vec<I64> even_add_, odd_add_;
#else
  MOTE_INLINE SmallScale(VI multiplier, VI right) : multiplier_(multiplier), right_(right) {}
  MOTE_INLINE VI operator()(VI x) const { return rounding_shift_right(high_mul(x, multiplier_), right_); }

 private:
  VI multiplier_, right_;
#endif
};
inline constexpr int32_t kMostSmall = (1 << 30) - 1;  // what SmallScale takes

}  // namespace mote::kernels::MOTE_ISA_NAME
