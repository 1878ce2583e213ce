#pragma once

// TFLite's fixed-point arithmetic on differences of bytes, with fewer instructions than fixed.h takes for any s32; the same bits.

#include "mote/kernels/int8/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME {

// x * low, less `unit` where x is negative. x has 16 bits; low and unit are the halves of each of `factors`.
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

// x << left, scaled as Factor does it, for |x| < 512, a multiplier m that is not negative and a shift r to the right (or none). With
// D = 31 - left that is (x * m + 2^(D - 1) + 2^(D - 1 + r) - (x < 0 ? 2^D : 0)) / 2^(D + r), where the last two terms are there if r is not
// 0. m = high * 2^16 + low, so two products of 32 bits do. Of x with the sign changed, `negative` gives the result with the sign changed.
class Widen {
 public:
  static bool can(int32_t multiplier, int32_t shift, int32_t left) {
    const int32_t drop = 31 - left;
    return multiplier >= 0 && multiplier < 0x7fff8000 && shift <= 0 && shift >= -16 && drop >= 11 && drop <= 14;
  }
  Widen(int32_t multiplier, int32_t shift, int32_t left, bool negative) {
    const int32_t drop = 31 - left, all = drop - shift, low = static_cast<int16_t>(multiplier & 0xffff);
    const int32_t unit = shift < 0 ? 1 << drop : 0, first = all < 16 ? all : 16;
    high_ = set_ints((multiplier - low) / 65536 * (1 << (16 - first)));
    low_ = set_ints(static_cast<int32_t>(static_cast<uint32_t>(unit) << 16 | (static_cast<uint32_t>(low) & 0xffffu)));
    add_ = set_ints((1 << (drop - 1)) + (shift < 0 ? 1 << (all - 1) : 0) - (negative ? 1 : 0));
    first_ = set_ints(first);
    second_ = set_ints(all - first);
  }
  MOTE_INLINE VI operator()(VI x) const {
    const VI low = shift_right(hn::Add(pair_product(x, low_), add_), first_);
    return shift_right(hn::Add(hn::Mul(x, high_), low), second_);
  }

 private:
  VI high_, low_, add_, first_, second_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
