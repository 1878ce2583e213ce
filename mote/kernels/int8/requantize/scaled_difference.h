#pragma once

// TFLite's fixed-point arithmetic on differences of bytes: the bits of FixedPointScale in fewer instructions.

#include "mote/kernels/int8/requantize/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// x * low, less `unit` where x is negative, for |x| below 2^15. `factors` holds low in the lower and unit in the upper 16 bits of each
// lane.
#if defined(__AVX512BW__)
MOTE_INLINE VI pair_product(VI x, VI factors) { return VI{_mm512_madd_epi16(x.raw, factors.raw)}; }
#elif HWY_ARCH_X86
MOTE_INLINE VI pair_product(VI x, VI factors) { return VI{_mm256_madd_epi16(x.raw, factors.raw)}; }
#else
MOTE_INLINE VI pair_product(VI x, VI factors) {
  const VI low = hn::ShiftRight<16>(hn::ShiftLeft<16>(factors)), unit = hn::ShiftRight<16>(factors);
  return hn::Sub(hn::Mul(x, low), hn::And(hn::ShiftRight<31>(x), unit));
}
#endif

// (x << left_shift) * multiplier / 2^31 / 2^r with both roundings of FixedPointScale, for |x| < 512, a multiplier m >= 0 and a right shift
// r >= 0. With D = 31 - left_shift that is
//   (x * m + 2^(D - 1) + 2^(D - 1 + r) - (x < 0 ? 2^D : 0)) / 2^(D + r)   rounded down, without the last two terms of the sum if r is 0.
// Writing m = high * 2^16 + low takes two 32-bit products. negative: x is passed with its sign changed, and so is the result.
class ScaledDifference {
 public:
  static bool supports(int32_t multiplier, int32_t shift, int32_t left_shift) {
    const int32_t dropped_bits = 31 - left_shift;
    return multiplier >= 0 && multiplier < 0x7fff8000 && shift <= 0 && shift >= -16 && dropped_bits >= 11 && dropped_bits <= 14;
  }
  ScaledDifference(int32_t multiplier, int32_t shift, int32_t left_shift, bool negative) {
    const int32_t dropped_bits = 31 - left_shift, total_shift = dropped_bits - shift, low = static_cast<int16_t>(multiplier & 0xffff);
    const int32_t unit = shift < 0 ? 1 << dropped_bits : 0, first_shift = total_shift < 16 ? total_shift : 16;
    high_ = set_ints((multiplier - low) / 65536 * (1 << (16 - first_shift)));
    low_ = set_ints(static_cast<int32_t>(static_cast<uint32_t>(unit) << 16 | (static_cast<uint32_t>(low) & 0xffffu)));
    rounding_ = set_ints((1 << (dropped_bits - 1)) + (shift < 0 ? 1 << (total_shift - 1) : 0) - (negative ? 1 : 0));
    first_shift_ = set_ints(first_shift);
    second_shift_ = set_ints(total_shift - first_shift);
  }
  MOTE_INLINE VI operator()(VI x) const {
    const VI low = shift_right(hn::Add(pair_product(x, low_), rounding_), first_shift_);
    return shift_right(hn::Add(hn::Mul(x, high_), low), second_shift_);
  }

 private:
  VI high_, low_, rounding_, first_shift_, second_shift_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
