#pragma once

// Sums of MR rows and NV vectors of outputs, as the processor's products leave them. Weights: (K / 4, 16, 4).

#include <arm_neon.h>

#include "mote/kernels/int8/dot_neon.h"

namespace mote::kernels::MOTE_ISA_NAME {

MOTE_INLINE int8x16_t load_bytes(const int8_t* p) { return vld1q_s8(p); }

#if defined(__ARM_FEATURE_MATMUL_INT8)
inline constexpr int kRowsAtOnce = kTileRows;
inline constexpr bool kLeastMatters = false;  // weights of -128 need care
inline constexpr bool kPairsOfRows = true;    // sums are those of two rows
// smmla: two rows of 8 times two outputs. A register of sums holds two outputs of two rows; the last of an odd number of rows counts twice.
template <int MR, int NV>
class Sums {
 public:
  MOTE_INLINE explicit Sums(const int32_t* base) {
    unroll<2 * NV>([&](auto v) MOTE_LAMBDA {
      int32x4_t first = vdupq_n_s32(0);
      if (base != nullptr) first = vreinterpretq_s32_s64(vld1q_dup_s64(reinterpret_cast<const int64_t*>(base + v * 2)));
      unroll<kPairs>([&](auto p) MOTE_LAMBDA { sum_[p][v] = first; });
    });
  }
  MOTE_INLINE const int8_t* add_products(const Left* const (&rows)[MR], int32_t steps, const int8_t* weights, bool) {
    const Left* at[2 * kPairs];
    unroll<2 * kPairs>([&](auto m) MOTE_LAMBDA { at[m] = rows[m < MR ? m : MR - 1]; });
    for (; steps >= 2; steps -= 2, weights += 2 * kStepBytes) {
      add_eight(
          weights, [&](auto p) MOTE_LAMBDA { return load_pair(at[2 * p], at[2 * p + 1]); },
          [](const int8_t* w) MOTE_LAMBDA { return load_bytes(w); });
    }
    if (steps == 0) return weights;
    add_eight(
        weights,
        [&](auto p) MOTE_LAMBDA {
          uint32_t first, second;
          __builtin_memcpy(&first, at[2 * p], 4);
          __builtin_memcpy(&second, at[2 * p + 1], 4);
          return vreinterpretq_s8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(second)));
        },
        [](const int8_t*) MOTE_LAMBDA { return vdupq_n_s8(0); });
    return weights + kStepBytes;
  }
  MOTE_INLINE void rows_of(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        const int64x2_t a = vreinterpretq_s64_s32(sum_[m / 2][2 * v]), b = vreinterpretq_s64_s32(sum_[m / 2][2 * v + 1]);
        out[m][v] = vreinterpretq_s32_s64(m % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
      });
    });
  }

 private:
  static constexpr int kPairs = (MR + 1) / 2;

  // Eight elements of two rows, which go on; GCC would take three instructions and two more for the addresses.
  MOTE_INLINE static int8x16_t load_pair(const Left*& a, const Left*& b) {
    int8x16_t v;
    const Left *p = a, *q = b;
    __asm__("ldr %d0, [%1], #8\n\tld1 {%0.d}[1], [%2], #8" : "=&w"(v), "+r"(p), "+r"(q) : : "memory");
    a = p, b = q;
    return v;
  }
  // Two blocks of weights; second(w) loads from the second one.
  template <class Pair, class Second>
  MOTE_INLINE void add_eight(const int8_t* weights, const Pair& pair, const Second& second) {
    int8x16_t x[kPairs];
    unroll<kPairs>([&](auto p) MOTE_LAMBDA { x[p] = pair(p); });
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t a = vreinterpretq_s32_s8(load_bytes(weights + v * 16)),
                      b = vreinterpretq_s32_s8(second(weights + kStepBytes + v * 16));
      const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(a, b)), high = vreinterpretq_s8_s32(vzip2q_s32(a, b));
      unroll<kPairs>([&](auto p) MOTE_LAMBDA {
        sum_[p][2 * v] = vmmlaq_s32(sum_[p][2 * v], x[p], low);
        sum_[p][2 * v + 1] = vmmlaq_s32(sum_[p][2 * v + 1], x[p], high);
      });
    });
  }

  int32x4_t sum_[kPairs][2 * NV];
};
#elif defined(__ARM_FEATURE_DOTPROD)
inline constexpr int kRowsAtOnce = kTileRows;
inline constexpr bool kLeastMatters = false, kPairsOfRows = false;
// sdot by a lane: sixteen elements of a row are loaded at once.
template <int MR, int NV>
class Sums {
 public:
  MOTE_INLINE explicit Sums(const int32_t* base) {
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t first = base != nullptr ? vld1q_s32(base + v * 4) : vdupq_n_s32(0);
      unroll<MR>([&](auto m) MOTE_LAMBDA { sum_[m][v] = first; });
    });
  }
  MOTE_INLINE const int8_t* add_products(const Left* const (&rows)[MR], int32_t steps, const int8_t* weights, bool) {
    int64_t k = 0;
    for (; steps >= 4; steps -= 4, k += 16, weights += 4 * kStepBytes) {
      int8x16_t x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load_bytes(rows[m] + k); });
      unroll<4>([&](auto lane) MOTE_LAMBDA { add_four<lane>(x, weights + lane * kStepBytes); });
    }
    for (; steps > 0; --steps, k += 4, weights += kStepBytes) {
      int8x16_t x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = vreinterpretq_s8_s32(broadcast(rows[m] + k)); });
      add_four<0>(x, weights);
    }
    return weights;
  }
  MOTE_INLINE void rows_of(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { out[m][v] = sum_[m][v]; }); });
  }

 private:
  template <int Lane>
  MOTE_INLINE void add_four(const int8x16_t (&x)[MR], const int8_t* weights) {
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      const int8x16_t a = load_bytes(weights + pair * 32), b = load_bytes(weights + pair * 32 + 16);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        sum_[m][2 * pair] = vdotq_laneq_s32(sum_[m][2 * pair], a, x[m], Lane);
        sum_[m][2 * pair + 1] = vdotq_laneq_s32(sum_[m][2 * pair + 1], b, x[m], Lane);
      });
    });
  }

  int32x4_t sum_[MR][NV];
};
#else
inline constexpr int kRowsAtOnce = 2;
inline constexpr bool kLeastMatters = true, kPairsOfRows = false;
// Products of 8 bits as 16, two of them added, then pairs added to sums of 32 bits: a register of sums holds two halves of two outputs, so
// that two rows fit the registers. Two products of -128 by -128 would not fit 16 bits: where weights reach that (`careful`), each product
// is widened by itself.
template <int MR, int NV>
class Sums {
 public:
  MOTE_INLINE explicit Sums(const int32_t* base) {
    const int32x4_t zero = vdupq_n_s32(0);
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t first = base != nullptr ? vld1q_s32(base + v * 4) : zero;
      const int32x4_t low = vzip1q_s32(first, zero), high = vzip2q_s32(first, zero);
      unroll<MR>([&](auto m) MOTE_LAMBDA { sum_[m][2 * v] = low, sum_[m][2 * v + 1] = high; });
    });
  }
  MOTE_INLINE const int8_t* add_products(const Left* const (&rows)[MR], int32_t steps, const int8_t* weights, bool careful) {
    int64_t k = 0;
    if (!careful) {
      const Left* at[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { at[m] = rows[m]; });
      for (; steps >= 4; steps -= 4, k += 16, weights += 4 * kStepBytes)
        unroll<2>([&](auto i) MOTE_LAMBDA { add_eight(at, weights + i * (2 * kStepBytes)); });
      for (; steps >= 2; steps -= 2, k += 8, weights += 2 * kStepBytes) add_eight(at, weights);
    }
    for (; steps > 0; --steps, k += 4, weights += kStepBytes) add_four(rows, k, weights);
    return weights;
  }
  MOTE_INLINE void rows_of(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m)
                   MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { out[m][v] = vpaddq_s32(sum_[m][2 * v], sum_[m][2 * v + 1]); }); });
  }

 private:
  MOTE_INLINE static int8x16_t four_of(const Left* p) { return vreinterpretq_s8_s32(broadcast(p)); }
  // Four elements, everywhere, of a row that goes on.
  MOTE_INLINE static int8x16_t next_four(const Left*& p) {
    int8x16_t v;
    const Left* at = p;
    __asm__("ld1r {%0.4s}, [%1], #4" : "=w"(v), "+r"(at) : : "memory");
    p = at;
    return v;
  }
  MOTE_INLINE void add_eight(const Left* (&at)[MR], const int8_t* weights) {
    int8x16_t x[MR], y[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = next_four(at[m]), y[m] = next_four(at[m]); });
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      int8x16_t a[2], b[2];
      unroll<2>([&](auto i) MOTE_LAMBDA { a[i] = load_bytes(weights + pair * 32 + i * 16); });
      unroll<2>([&](auto i) MOTE_LAMBDA { b[i] = load_bytes(weights + kStepBytes + pair * 32 + i * 16); });
      unroll<2>([&](auto i) MOTE_LAMBDA {
        constexpr int kAt = 4 * decltype(pair)::value + 2 * decltype(i)::value;
        unroll<MR>([&](auto m) MOTE_LAMBDA {
          const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(a[i]), vget_low_s8(x[m])), vget_low_s8(b[i]), vget_low_s8(y[m]));
          sum_[m][kAt] = vpadalq_s16(sum_[m][kAt], low);
          const int16x8_t high = vmlal_high_s8(vmull_high_s8(a[i], x[m]), b[i], y[m]);
          sum_[m][kAt + 1] = vpadalq_s16(sum_[m][kAt + 1], high);
        });
      });
    });
  }
  MOTE_INLINE void add_four(const Left* const (&rows)[MR], int64_t k, const int8_t* weights) {
    int8x16_t x[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = four_of(rows[m] + k); });
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int8x16_t a = load_bytes(weights + v * 16);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        sum_[m][2 * v] = vpadalq_s16(sum_[m][2 * v], vmull_s8(vget_low_s8(a), vget_low_s8(x[m])));
        sum_[m][2 * v + 1] = vpadalq_s16(sum_[m][2 * v + 1], vmull_high_s8(a, x[m]));
      });
    });
  }

  int32x4_t sum_[MR][2 * NV];
};
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
