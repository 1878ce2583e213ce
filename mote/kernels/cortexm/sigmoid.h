#pragma once

// Logistic and tanh of 16-bit fixed point, bit-exact with ops::logistic_of and ops::tanh_of: the same steps without saturation that cannot
// occur (a test compares all 65,536 inputs).

#include "mote/kernels/cortexm/dsp.h"

namespace mote::cortexm {

// Rounding product of two Q0.15 numbers, which are not both -1.
inline int32_t mul15(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

// exp(-2^e), e = -2, ..., 4.
constexpr int32_t kPowersOfE[] = {25520, 19875, 12055, 4435, 600, 11, 0};

// exp(n) as Q0.15, for n < 0 with kBits integer bits.
template <int kBits>
inline int32_t exp_of_negative16(int32_t n) {
  if (kBits > 5 && n < -(1 << (20 - kBits))) return 0;
  constexpr int kFraction = 15 - kBits;
  const int32_t quarter = 1 << (kFraction - 2), near = (n & (quarter - 1)) - quarter, rest = near - n;
  const int32_t x = near * (1 << kBits) + 4096, x2 = mul15(x, x), x3 = mul15(x2, x), x4 = mul15(x2, x2);
  const int32_t tail = (mul15(((x4 + 2) >> 2) + x3, 10923) + x2 + 1) >> 1;
  int32_t r = 28918 + mul15(28918, x + tail);
  r = r > 32767 ? 32767 : r;
#pragma GCC unroll 8
  for (int e = -2; e <= 4 && e < kBits; ++e)
    if ((rest >> (kFraction + e) & 1) != 0) r = mul15(r, kPowersOfE[e + 2]);
  return r;
}

// 1 / ((1 + e) / 2) with 13 fraction bits, by Newton's method.
inline int32_t reciprocal_of_half_sum16(int32_t e) {
  const int32_t half = (e + 32768) >> 1;
  int32_t x = 23130 + mul15(half, -15420);
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) x += mul15(x, 8192 - mul15(half, x)) * 4;
  return x;
}

// x has 3 integer bits.
inline int32_t logistic16(int32_t a) {
  if (a == 0) return 1 << 14;
  const int32_t x = reciprocal_of_half_sum16(exp_of_negative16<3>(a > 0 ? -a : a));
  const int32_t r = x > 16383 ? 32767 : x * 2;
  return a > 0 ? r : 32767 - r;
}

// x has kBits integer bits.
template <int kBits>
inline int32_t tanh16(int32_t a) {
  if (a == 0) return 0;
  const int32_t x = reciprocal_of_half_sum16(exp_of_negative16<kBits + 1>(a < 0 ? a : -a)) - 8192;
  const int32_t r = x > 8191 ? 32767 : x * 4;
  return a < 0 ? -r : r;
}

}  // namespace mote::cortexm
