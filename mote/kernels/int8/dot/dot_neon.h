#pragma once

// 64-bit Arm: s8 by s8, four products added to an accumulator, with sdot or widening multiplies. u8 values are encoded as x - 128. The GEMM
// does not use dot(): its micro-kernel has its own accumulators (gemm/accumulators_neon.h). Depthwise convolutions do.

#include <arm_neon.h>

#include "mote/kernels/int8/dot/depthwise_weights_s8.h"
#include "mote/kernels/int8/dot/lhs_s8.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Lhs = int8_t;
using Register = int32x4_t;  // accumulators; also weights and LHS, as raw bits
inline constexpr int kVectorOutputs = 4, kTileVectors = 4, kTileRows = 6;

MOTE_INLINE Register zero_register() { return vdupq_n_s32(0); }
MOTE_INLINE Register load_register(const void* p) { return vreinterpretq_s32_u8(vld1q_u8(static_cast<const uint8_t*>(p))); }
MOTE_INLINE void store_register(void* p, Register v) { vst1q_u8(static_cast<uint8_t*>(p), vreinterpretq_u8_s32(v)); }
MOTE_INLINE Register load_weights(const int8_t* w) { return load_register(w); }
MOTE_INLINE Register add(Register a, Register b) { return vaddq_s32(a, b); }
MOTE_INLINE Register broadcast(const Lhs* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return vdupq_n_s32(v);
}

// acc + the sum of each output's four weights.
MOTE_INLINE Register add_weights(Register acc, Register w) { return vpadalq_s16(acc, vpaddlq_s8(vreinterpretq_s8_s32(w))); }

#if defined(__ARM_FEATURE_DOTPROD)
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return vdotq_s32(acc, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(w)); }
#else
MOTE_INLINE Register dot(Register acc, Register x, Register w) {
  const int8x16_t a = vreinterpretq_s8_s32(x), b = vreinterpretq_s8_s32(w);
  const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b)), high = vmull_high_s8(a, b);
  return vaddq_s32(acc, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
}
#endif

template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  unroll<N>([&](auto i) MOTE_LAMBDA { store_register(v + i * 4, acc[i]); });
}

class LhsEncoding : public SignedLhsEncoding {
 public:
  LhsEncoding(bool is_signed, int32_t /*zero*/) : SignedLhsEncoding(is_signed) {}

  // Encodes 64 values; with Sum returns the sum of the elements.
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Lhs* out) const {
    Register total = zero_register();
    const Register ones = vreinterpretq_s32_s8(vdupq_n_s8(1));
    unroll<4>([&](auto i) MOTE_LAMBDA {
      const uint8x16_t v = veorq_u8(vld1q_u8(x + i * 16), vdupq_n_u8(xor_mask_));
      vst1q_s8(out + i * 16, vreinterpretq_s8_u8(v));
      if (Sum) total = dot(total, vreinterpretq_s32_u8(v), ones);
    });
    return Sum ? vaddvq_s32(total) : 0;
  }

  // Interleaves 16 channels of four taps into K groups: register i holds channels 4 * i to 4 * i + 3.
  MOTE_INLINE void interleave_taps(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, Register* out) const {
    const uint8x16_t flip = vdupq_n_u8(xor_mask_);
    a = veorq_u8(a, flip), b = veorq_u8(b, flip), c = veorq_u8(c, flip), d = veorq_u8(d, flip);
    const auto words = [](uint8x16_t v) MOTE_LAMBDA { return vreinterpretq_u16_u8(v); };
    const uint16x8_t ab = words(vzip1q_u8(a, b)), cd = words(vzip1q_u8(c, d)), ab2 = words(vzip2q_u8(a, b)), cd2 = words(vzip2q_u8(c, d));
    out[0] = vreinterpretq_s32_u16(vzip1q_u16(ab, cd));
    out[1] = vreinterpretq_s32_u16(vzip2q_u16(ab, cd));
    out[2] = vreinterpretq_s32_u16(vzip1q_u16(ab2, cd2));
    out[3] = vreinterpretq_s32_u16(vzip2q_u16(ab2, cd2));
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
