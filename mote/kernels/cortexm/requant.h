#pragma once

// Requantization of accumulators to 8 bits, and addition of quantized tensors. The compiler finds constants with which this short form is
// bit-exact with the operator for every accumulator that can occur (mote/compiler/emit/cpp/requant.h), so there is no generic path here.

#include "mote/kernels/cortexm/dsp.h"

namespace mote::cortexm {

struct Channel {
  int32_t bias;  // including the correction for the input's zero point
  int32_t multiplier, add, shift;
};

struct Range {
  int8_t lo, hi;
  int8_t left;    // left shift of accumulators before the multiplication
  bool narrower;  // [lo, hi] is not all of 8 bits
};

// Scales one accumulator, without saturation.
inline int32_t scaled(int32_t sum, int left, int32_t multiplier, int32_t add, int32_t shift) {
  const int32_t x = high_mul(static_cast<int32_t>(static_cast<uint32_t>(sum) << left), multiplier);
  return (x + (x >> 31) + add) >> shift;
}

// Accumulators of one channel. Parameters by value: the compiler must assume that stores of 8-bit elements alias anything behind a pointer.
template <int kCount>
inline void requantize(int32_t (&v)[kCount], int32_t multiplier, int32_t add, int32_t shift, Range r) {
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) v[i] = saturate8(scaled(v[i], r.left, multiplier, add, shift));
  if (!r.narrower) return;
  for (int i = 0; i < kCount; ++i) v[i] = v[i] < r.lo ? r.lo : v[i] > r.hi ? r.hi : v[i];
}
// x * multiplier, rounded, then a right shift that rounds half away from zero. minus: -1, or 0 where the shift is 0.
struct Scale {
  int32_t multiplier, half, minus, shift;
};
inline int32_t scaled(int32_t doubled, const Scale& s) {
  const int32_t x = high_mul(doubled, s.multiplier);
  return (x + ((x >> 31) & s.minus) + s.half) >> s.shift;
}
// a + b (or a - b) of elements with different scales, as in q_add.
struct Sum {
  Scale a, b, y;
  int16_t a_zero, b_zero, y_zero, lo, hi;
  int8_t left;  // q_add's left_shift + 1
};
template <int kSign = 1>
inline int32_t added(int32_t a, int32_t b, const Sum& s) {
  const int32_t p = scaled((a - s.a_zero) * (1 << s.left), s.a), q = scaled((b - s.b_zero) * (1 << s.left), s.b);
  const int32_t v = scaled((p + kSign * q) * 2, s.y) + s.y_zero;
  return v < s.lo ? s.lo : v > s.hi ? s.hi : v;
}
// y may be a or b.
inline void add(const Sum& sum, const int8_t* a, const int8_t* b, int8_t* y, int32_t count) {
  const Sum s = sum;
  for (; count > 0; --count) *y++ = static_cast<int8_t>(added(*a++, *b++, s));
}

}  // namespace mote::cortexm
