#pragma once

// 32-bit Arm: s8 by s8 as 16-bit products, added in pairs to 32-bit accumulators. u8 values are encoded as x - 128. A register holds two
// partial accumulators for each of two outputs.

#include <arm_neon.h>

#include "mote/kernels/int8/dot/depthwise_weights_s8.h"
#include "mote/kernels/int8/dot/lhs_s8.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Lhs = int8_t;
using Register = int32x4_t;
using Operand = int8x8_t;
inline constexpr int kVectorOutputs = 2, kTileVectors = 2, kTileRows = 6;

MOTE_INLINE Register zero_register() { return vdupq_n_s32(0); }
MOTE_INLINE Register load_register(const void* p) { return vld1q_s32(static_cast<const int32_t*>(p)); }
MOTE_INLINE void store_register(void* p, Register v) { vst1q_s32(static_cast<int32_t*>(p), v); }
MOTE_INLINE Operand load_operand(const void* p) { return vld1_s8(static_cast<const int8_t*>(p)); }
MOTE_INLINE Operand load_weights(const int8_t* w) { return load_operand(w); }
MOTE_INLINE Register add(Register a, Register b) { return vaddq_s32(a, b); }
MOTE_INLINE Operand broadcast(const Lhs* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return vreinterpret_s8_s32(vdup_n_s32(v));
}
MOTE_INLINE Register dot(Register acc, Operand x, Operand w) { return vpadalq_s16(acc, vmull_s8(x, w)); }
// acc + the sum of each output's four weights.
MOTE_INLINE Register add_weights(Register acc, Operand w) { return vpadalq_s16(acc, vmovl_s8(w)); }

template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  static_assert(N % 2 == 0, "two registers hold four outputs");
  const auto pairs = [](Register s) MOTE_LAMBDA { return vpadd_s32(vget_low_s32(s), vget_high_s32(s)); };
  unroll<N / 2>([&](auto i) MOTE_LAMBDA { vst1q_s32(v + i * 4, vcombine_s32(pairs(acc[2 * i]), pairs(acc[2 * i + 1]))); });
}

class LhsEncoding : public SignedLhsEncoding {
 public:
  LhsEncoding(bool is_signed, int32_t /*zero*/) : SignedLhsEncoding(is_signed) {}

  // Encodes 64 values; with Sum returns the sum of the elements.
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Lhs* out) const {
    Register total = zero_register();
    unroll<4>([&](auto i) MOTE_LAMBDA {
      const int8x16_t v = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(x + i * 16), vdupq_n_u8(xor_mask_)));
      vst1q_s8(out + i * 16, v);
      if (Sum) total = vpadalq_s16(total, vpaddlq_s8(v));
    });
    const int32x2_t half = vadd_s32(vget_low_s32(total), vget_high_s32(total));
    return Sum ? vget_lane_s32(vpadd_s32(half, half), 0) : 0;
  }

  // Interleaves 16 channels of four taps into K groups: out[i] holds channels 2 * i and 2 * i + 1.
  MOTE_INLINE void interleave_taps(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, Operand* out) const {
    const uint8x16_t flip = vdupq_n_u8(xor_mask_);
    const uint8x16x2_t ab = vzipq_u8(veorq_u8(a, flip), veorq_u8(b, flip)), cd = vzipq_u8(veorq_u8(c, flip), veorq_u8(d, flip));
    unroll<2>([&](auto i) MOTE_LAMBDA {
      const uint16x8x2_t all = vzipq_u16(vreinterpretq_u16_u8(ab.val[i]), vreinterpretq_u16_u8(cd.val[i]));
      unroll<2>([&](auto k) MOTE_LAMBDA {
        const int8x16_t v = vreinterpretq_s8_u16(all.val[k]);
        out[4 * i + 2 * k] = vget_low_s8(v);
        out[4 * i + 2 * k + 1] = vget_high_s8(v);
      });
    });
  }
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
