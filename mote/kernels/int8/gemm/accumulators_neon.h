#pragma once

// Accumulators of MR rows and NV vectors of outputs, in the register layout of the ISA's multiply instruction (smmla, sdot or smlal).
//   Accumulators(base)                                       initialised with `base`, or with zeros if null
//   multiply_add(rows, k_groups, weights, has_minus_128)     adds the products of one run; returns the weights behind it
//   to_row_order(out)                                        one register for each row and four outputs
// Weights: panels (K / 4, 16, 4).

#include <arm_neon.h>

#include "mote/kernels/int8/dot/dot_neon.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

MOTE_INLINE int8x16_t load_bytes(const int8_t* p) { return vld1q_s8(p); }

#if defined(__ARM_FEATURE_MATMUL_INT8)
inline constexpr int kMicrokernelRows = kTileRows;
inline constexpr bool kMinus128Overflows = false;   // products of -128 by -128 overflow an intermediate result
inline constexpr bool kAccumulatesRowPairs = true;  // a register holds accumulators of two rows
// smmla: 2x8 by 8x2. A register accumulates two outputs of two rows; with an odd number of rows the last one is computed twice.
template <int MR, int NV>
class Accumulators {
 public:
  MOTE_INLINE explicit Accumulators(const int32_t* base) {
    unroll<2 * NV>([&](auto v) MOTE_LAMBDA {
      int32x4_t first = vdupq_n_s32(0);
      if (base != nullptr) first = vreinterpretq_s32_s64(vld1q_dup_s64(reinterpret_cast<const int64_t*>(base + v * 2)));
      unroll<kPairs>([&](auto p) MOTE_LAMBDA { acc_[p][v] = first; });
    });
  }
  MOTE_INLINE const int8_t* multiply_add(const Lhs* const (&rows)[MR], int32_t k_groups, const int8_t* weights, bool) {
    const Lhs* row_ptrs[2 * kPairs];
    unroll<2 * kPairs>([&](auto m) MOTE_LAMBDA { row_ptrs[m] = rows[m < MR ? m : MR - 1]; });
    for (; k_groups >= 2; k_groups -= 2, weights += 2 * kKGroupBytes) {
      add_group_pair(
          weights, [&](auto p) MOTE_LAMBDA { return load_pair(row_ptrs[2 * p], row_ptrs[2 * p + 1]); },
          [](const int8_t* w) MOTE_LAMBDA { return load_bytes(w); });
    }
    if (k_groups == 0) return weights;
    add_group_pair(
        weights,
        [&](auto p) MOTE_LAMBDA {
          uint32_t first, second;
          __builtin_memcpy(&first, row_ptrs[2 * p], 4);
          __builtin_memcpy(&second, row_ptrs[2 * p + 1], 4);
          return vreinterpretq_s8_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(second)));
        },
        [](const int8_t*) MOTE_LAMBDA { return vdupq_n_s8(0); });
    return weights + kKGroupBytes;
  }
  MOTE_INLINE void to_row_order(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m) MOTE_LAMBDA {
      unroll<NV>([&](auto v) MOTE_LAMBDA {
        const int64x2_t a = vreinterpretq_s64_s32(acc_[m / 2][2 * v]), b = vreinterpretq_s64_s32(acc_[m / 2][2 * v + 1]);
        out[m][v] = vreinterpretq_s32_s64(m % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
      });
    });
  }

 private:
  static constexpr int kPairs = (MR + 1) / 2;

  // Loads eight elements of two rows and advances both; GCC would use three instructions and two more for the addresses.
  MOTE_INLINE static int8x16_t load_pair(const Lhs*& a, const Lhs*& b) {
    int8x16_t v;
    const Lhs *p = a, *q = b;
    __asm__("ldr %d0, [%1], #8\n\tld1 {%0.d}[1], [%2], #8" : "=&w"(v), "+r"(p), "+r"(q) : : "memory");
    a = p, b = q;
    return v;
  }
  // Two K groups. load_second(w) loads weights of the second one.
  template <class LoadPair, class LoadSecond>
  MOTE_INLINE void add_group_pair(const int8_t* weights, const LoadPair& load_pair_of, const LoadSecond& load_second) {
    int8x16_t x[kPairs];
    unroll<kPairs>([&](auto p) MOTE_LAMBDA { x[p] = load_pair_of(p); });
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t a = vreinterpretq_s32_s8(load_bytes(weights + v * 16)),
                      b = vreinterpretq_s32_s8(load_second(weights + kKGroupBytes + v * 16));
      const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(a, b)), high = vreinterpretq_s8_s32(vzip2q_s32(a, b));
      unroll<kPairs>([&](auto p) MOTE_LAMBDA {
        acc_[p][2 * v] = vmmlaq_s32(acc_[p][2 * v], x[p], low);
        acc_[p][2 * v + 1] = vmmlaq_s32(acc_[p][2 * v + 1], x[p], high);
      });
    });
  }

  int32x4_t acc_[kPairs][2 * NV];
};
#elif defined(__ARM_FEATURE_DOTPROD)
inline constexpr int kMicrokernelRows = kTileRows;
inline constexpr bool kMinus128Overflows = false, kAccumulatesRowPairs = false;
// sdot by element: 16 elements of a row are loaded at a time, one K group in each lane.
template <int MR, int NV>
class Accumulators {
 public:
  MOTE_INLINE explicit Accumulators(const int32_t* base) {
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t first = base != nullptr ? vld1q_s32(base + v * 4) : vdupq_n_s32(0);
      unroll<MR>([&](auto m) MOTE_LAMBDA { acc_[m][v] = first; });
    });
  }
  MOTE_INLINE const int8_t* multiply_add(const Lhs* const (&rows)[MR], int32_t k_groups, const int8_t* weights, bool) {
    int64_t k = 0;
    for (; k_groups >= 4; k_groups -= 4, k += 16, weights += 4 * kKGroupBytes) {
      int8x16_t x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load_bytes(rows[m] + k); });
      unroll<4>([&](auto lane) MOTE_LAMBDA { add_group<lane>(x, weights + lane * kKGroupBytes); });
    }
    for (; k_groups > 0; --k_groups, k += 4, weights += kKGroupBytes) {
      int8x16_t x[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = vreinterpretq_s8_s32(broadcast(rows[m] + k)); });
      add_group<0>(x, weights);
    }
    return weights;
  }
  MOTE_INLINE void to_row_order(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m) MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { out[m][v] = acc_[m][v]; }); });
  }

 private:
  template <int Lane>
  MOTE_INLINE void add_group(const int8x16_t (&x)[MR], const int8_t* weights) {
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      const int8x16_t a = load_bytes(weights + pair * 32), b = load_bytes(weights + pair * 32 + 16);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        acc_[m][2 * pair] = vdotq_laneq_s32(acc_[m][2 * pair], a, x[m], Lane);
        acc_[m][2 * pair + 1] = vdotq_laneq_s32(acc_[m][2 * pair + 1], b, x[m], Lane);
      });
    });
  }

  int32x4_t acc_[MR][NV];
};
#else
inline constexpr int kMicrokernelRows = 2;
inline constexpr bool kMinus128Overflows = true, kAccumulatesRowPairs = false;
// Base NEON: smull and smlal add two 8-bit products in 16 bits, sadalp adds pairs of those to 32-bit accumulators. A register holds two
// partial accumulators of two outputs, so two rows fit the registers. Two products of -128 by -128 overflow 16 bits: with has_minus_128
// each product is widened before it is added.
template <int MR, int NV>
class Accumulators {
 public:
  MOTE_INLINE explicit Accumulators(const int32_t* base) {
    const int32x4_t zero = vdupq_n_s32(0);
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int32x4_t first = base != nullptr ? vld1q_s32(base + v * 4) : zero;
      const int32x4_t low = vzip1q_s32(first, zero), high = vzip2q_s32(first, zero);
      unroll<MR>([&](auto m) MOTE_LAMBDA { acc_[m][2 * v] = low, acc_[m][2 * v + 1] = high; });
    });
  }
  MOTE_INLINE const int8_t* multiply_add(const Lhs* const (&rows)[MR], int32_t k_groups, const int8_t* weights, bool has_minus_128) {
    int64_t k = 0;
    if (!has_minus_128) {
      const Lhs* row_ptrs[MR];
      unroll<MR>([&](auto m) MOTE_LAMBDA { row_ptrs[m] = rows[m]; });
      for (; k_groups >= 4; k_groups -= 4, k += 16, weights += 4 * kKGroupBytes)
        unroll<2>([&](auto i) MOTE_LAMBDA { add_group_pair(row_ptrs, weights + i * (2 * kKGroupBytes)); });
      for (; k_groups >= 2; k_groups -= 2, k += 8, weights += 2 * kKGroupBytes) add_group_pair(row_ptrs, weights);
    }
    for (; k_groups > 0; --k_groups, k += 4, weights += kKGroupBytes) add_group(rows, k, weights);
    return weights;
  }
  MOTE_INLINE void to_row_order(int32x4_t (&out)[MR][NV]) const {
    unroll<MR>([&](auto m)
                   MOTE_LAMBDA { unroll<NV>([&](auto v) MOTE_LAMBDA { out[m][v] = vpaddq_s32(acc_[m][2 * v], acc_[m][2 * v + 1]); }); });
  }

 private:
  MOTE_INLINE static int8x16_t load_group(const Lhs* p) { return vreinterpretq_s8_s32(broadcast(p)); }
  // Broadcasts a K group of a row and advances the row.
  MOTE_INLINE static int8x16_t load_next_group(const Lhs*& p) {
    int8x16_t v;
    const Lhs* next = p;
    __asm__("ld1r {%0.4s}, [%1], #4" : "=w"(v), "+r"(next) : : "memory");
    p = next;
    return v;
  }
  MOTE_INLINE void add_group_pair(const Lhs* (&row_ptrs)[MR], const int8_t* weights) {
    int8x16_t x[MR], y[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load_next_group(row_ptrs[m]), y[m] = load_next_group(row_ptrs[m]); });
    unroll<NV / 2>([&](auto pair) MOTE_LAMBDA {
      int8x16_t a[2], b[2];
      unroll<2>([&](auto i) MOTE_LAMBDA { a[i] = load_bytes(weights + pair * 32 + i * 16); });
      unroll<2>([&](auto i) MOTE_LAMBDA { b[i] = load_bytes(weights + kKGroupBytes + pair * 32 + i * 16); });
      unroll<2>([&](auto i) MOTE_LAMBDA {
        constexpr int kAcc = 4 * decltype(pair)::value + 2 * decltype(i)::value;
        unroll<MR>([&](auto m) MOTE_LAMBDA {
          const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(a[i]), vget_low_s8(x[m])), vget_low_s8(b[i]), vget_low_s8(y[m]));
          acc_[m][kAcc] = vpadalq_s16(acc_[m][kAcc], low);
          const int16x8_t high = vmlal_high_s8(vmull_high_s8(a[i], x[m]), b[i], y[m]);
          acc_[m][kAcc + 1] = vpadalq_s16(acc_[m][kAcc + 1], high);
        });
      });
    });
  }
  MOTE_INLINE void add_group(const Lhs* const (&rows)[MR], int64_t k, const int8_t* weights) {
    int8x16_t x[MR];
    unroll<MR>([&](auto m) MOTE_LAMBDA { x[m] = load_group(rows[m] + k); });
    unroll<NV>([&](auto v) MOTE_LAMBDA {
      const int8x16_t a = load_bytes(weights + v * 16);
      unroll<MR>([&](auto m) MOTE_LAMBDA {
        acc_[m][2 * v] = vpadalq_s16(acc_[m][2 * v], vmull_s8(vget_low_s8(a), vget_low_s8(x[m])));
        acc_[m][2 * v + 1] = vpadalq_s16(acc_[m][2 * v + 1], vmull_high_s8(a, x[m]));
      });
    });
  }

  int32x4_t acc_[MR][2 * NV];
};
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
