#pragma once

// Epilogue in registers for 64-bit Arm: accumulators of a micro-kernel to 8-bit outputs, with the results of RequantEpilogue.

#include <arm_neon.h>

#include "mote/kernels/int8/requantize/operands.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// `base`, `multiplier` and `right_shift` are arrays of ChannelParams; accumulators start from base.
struct RegisterEpilogue {
  RegisterEpilogue(const int32_t* first_base, const int32_t* first_multiplier, const int32_t* first_right_shift, uint8_t* const* rows,
                   const ClampRange& bounds, DType type, bool is_real)
      : base(first_base), multiplier(first_multiplier), right_shift(first_right_shift), out(rows), real(is_real) {
    const int32_t offset = type == DType::u8 ? 128 : 0;
    flip = static_cast<uint8_t>(offset);
    zero = static_cast<int16_t>(bounds.zero - offset);
    lo = static_cast<int8_t>(bounds.lo + bounds.zero - offset);
    hi = static_cast<int8_t>(bounds.hi + bounds.zero - offset);
    clamps = lo != -128 || hi != 127;
  }
  const int32_t *base, *multiplier, *right_shift;
  uint8_t* const* out;  // [row], at the tile's first output
  int16_t zero;         // of an s8 output; a u8 output is computed as s8 and its sign bit flipped
  int8_t lo, hi;
  uint8_t flip;
  bool real;
  int32_t clamps;  // 0: the bounds are those of the type
};

// What every row needs, loaded by inline assembly after the products: the compiler would load it early and spill accumulators.
struct ClampVectors {
  bool clamps;
  int16x8_t zero;
  int8x16_t lo, hi;
  MOTE_INLINE explicit ClampVectors(const RegisterEpilogue& e) : clamps(e.clamps != 0) {
    __asm__ volatile("ld1r {%0.8h}, %1" : "=w"(zero) : "Q"(e.zero));
    __asm__ volatile("ld1r {%0.16b}, %1" : "=w"(lo) : "Q"(e.lo));
    __asm__ volatile("ld1r {%0.16b}, %1" : "=w"(hi) : "Q"(e.hi));
  }
};

// Up to 16 accumulators of a row as bytes that are saturated, but not clamped.
template <int NV>
MOTE_INLINE uint8x16_t narrow_row(const ClampVectors& e, const int32x4_t* scaled) {
  const int16x8_t low = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(scaled[0]), scaled[1]), e.zero);
  int8x16_t y;
  if constexpr (NV == 4) {
    const int16x8_t high = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(scaled[2]), scaled[3]), e.zero);
    y = vqmovn_high_s16(vqmovn_s16(low), high);
  } else {
    y = vcombine_s8(vqmovn_s16(low), vdup_n_s8(0));
  }
  return vreinterpretq_u8_s8(y);
}

// Tail of a tile: the first `count` bytes of each row.
__attribute__((noinline)) inline void store_partial_rows(const uint8_t (*rows)[16], int32_t row_count, int64_t first, int64_t count,
                                                         uint8_t* const* to) {
  for (int32_t m = 0; m < row_count; ++m)
    for (int64_t i = 0; i < count; ++i) to[m][first + i] = rows[m][i];
}

// Requantizes the accumulators of MR rows from output `first` on and stores `count` bytes of each to to[row] + first.
template <int MR, int NV>
MOTE_INLINE void requantize_and_store(const RegisterEpilogue& e, const ClampVectors& clamp, int64_t first, int64_t count,
                                      const int32x4_t (&accumulators)[MR][NV], uint8_t* const (&to)[MR]) {
  uint8x16_t y[MR];
  int32x4_t multiplier[NV], shift[NV];
  unroll<NV>([&](auto v) MOTE_LAMBDA { multiplier[v] = vld1q_s32(e.multiplier + first + v * 4); });
  if (e.real) {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      int32x4_t scaled[NV];
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        scaled[v] = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(accumulators[m][v]), vreinterpretq_f32_s32(multiplier[v])));
      });
      y[m] = narrow_row<NV>(clamp, scaled);
    });
  } else {
    // right_shift is stored less 1, and vrshlq shifts right by negative counts: -(stored + 1) = ~stored.
    unroll<NV>([&](auto v) MOTE_LAMBDA { shift[v] = vmvnq_s32(vld1q_s32(e.right_shift + first + v * 4)); });
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      int32x4_t scaled[NV];
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        const int32x4_t product = vqrdmulhq_s32(accumulators[m][v], multiplier[v]);
        scaled[v] = vrshlq_s32(vsraq_n_s32(product, product, 31), shift[v]);  // ties away from zero
      });
      y[m] = narrow_row<NV>(clamp, scaled);
    });
  }
  if (clamp.clamps)
    unroll<MR>([&](auto m) MOTE_LAMBDA { y[m] = vreinterpretq_u8_s8(vminq_s8(vmaxq_s8(vreinterpretq_s8_u8(y[m]), clamp.lo), clamp.hi)); });
  if (e.flip != 0) unroll<MR>([&](auto m) MOTE_LAMBDA { y[m] = veorq_u8(y[m], vdupq_n_u8(e.flip)); });
  if (count >= 4 * NV) {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      if constexpr (NV == 4) vst1q_u8(to[m] + first, y[m]);
      else vst1_u8(to[m] + first, vget_low_u8(y[m]));
    });
    return;
  }
  uint8_t rows[MR][16];
  unroll<MR>([&](auto m) MOTE_LAMBDA { vst1q_u8(rows[m], y[m]); });
  store_partial_rows(rows, MR, first, count, to);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
