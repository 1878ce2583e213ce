#pragma once

// The inner loops of products with plain weights: pixels are spread to pairs without their zero point, then multiplied with two channels.

#include "mote/kernels/cortexm/dsp.h"

namespace mote::cortexm {

#if MOTE_CORTEXM_DSP
inline uint32_t subtract_pair(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("ssub16 %0, %1, %2" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
#else
inline uint32_t subtract_pair(uint32_t a, uint32_t b) { return pair_of(low(a) - low(b), high(a) - high(b)); }
#endif

// Up to 3 bytes, the rest 0.
inline uint32_t few_bytes(const int8_t* from, int32_t count) {
  uint32_t word = 0;
  for (int32_t i = 0; i < count; ++i) word |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << 8 * i;
  return word;
}

// One of kPixels: for every 4 inputs a word with inputs 0 and 2, kPixels words further one with inputs 1 and 3.
template <int kPixels>
inline void spread(const int8_t* from, int32_t count, int32_t zero, uint32_t* to) {
  const uint32_t z = pair_of(zero, zero);
#pragma GCC unroll 2
  for (; count >= 4; count -= 4, from += 4, to += 2 * kPixels) {
    const uint32_t v = load_word(from);
    to[0] = subtract_pair(even_bytes(v), z);
    to[kPixels] = subtract_pair(odd_bytes(v), z);
  }
  if (count == 0) return;
  const uint32_t v = few_bytes(from, count);
  to[0] = subtract_pair(even_bytes(v), count > 2 ? z : z & 0xffff);
  to[kPixels] = subtract_pair(odd_bytes(v), count > 1 ? z & 0xffff : 0);
}

// Sums of kPixels pixels times two channels, whose weights are given: those of channel 0, then those of channel 1.
template <int kPixels>
inline void dot_2(const uint32_t* x, const int8_t* w0, const int8_t* w1, int32_t count, int32_t* sums) {
  int32_t a[kPixels], b[kPixels];
  for (int p = 0; p < kPixels; ++p) a[p] = sums[p], b[p] = sums[kPixels + p];
  const auto four = [&](uint32_t u, uint32_t v) {
    const uint32_t u0 = even_bytes(u), u1 = odd_bytes(u), v0 = even_bytes(v), v1 = odd_bytes(v);
    for (int p = 0; p < kPixels; ++p) {
      a[p] = add_products(add_products(a[p], u0, x[p]), u1, x[kPixels + p]);
      b[p] = add_products(add_products(b[p], v0, x[p]), v1, x[kPixels + p]);
    }
    x += 2 * kPixels;
  };
#pragma GCC unroll 2
  for (int32_t i = count / 4; i > 0; --i, w0 += 4, w1 += 4) four(load_word(w0), load_word(w1));
  if (count % 4 != 0) four(few_bytes(w0, count % 4), few_bytes(w1, count % 4));
  for (int p = 0; p < kPixels; ++p) sums[p] = a[p], sums[kPixels + p] = b[p];
}

}  // namespace mote::cortexm
