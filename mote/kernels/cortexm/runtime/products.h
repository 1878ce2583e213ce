#pragma once

// The inner loops of convolutions and matrix products with plain weights: inputs are widened to 16-bit pairs less their zero point, then
// multiplied with two output channels.

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

// Loads up to 3 bytes, zero-extended to a word.
inline uint32_t few_bytes(const int8_t* from, int32_t count) {
  uint32_t word = 0;
  for (int32_t i = 0; i < count; ++i) word |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << 8 * i;
  return word;
}

// Widens one of kPixels pixels: for every 4 inputs a word with inputs 0 and 2, and kPixels words further one with inputs 1 and 3.
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

// Adds to the accumulators of kPixels pixels times two channels, over `groups` (at least one) K groups of 4 inputs.
template <int kPixels>
[[gnu::noinline]] inline void add_groups(const uint32_t* x, const int8_t* w0, const int8_t* w1, int32_t groups, int32_t* sums) {
  int32_t a[kPixels], b[kPixels];
  for (int p = 0; p < kPixels; ++p) a[p] = sums[p], b[p] = sums[kPixels + p];
  for (; groups > 0; --groups, w0 += 4, w1 += 4, x += 2 * kPixels) {
    const uint32_t u = load_word(w0), v = load_word(w1), u0 = even_bytes(u), u1 = odd_bytes(u), v0 = even_bytes(v), v1 = odd_bytes(v);
    for (int p = 0; p < kPixels; ++p) {
      a[p] = add_products(add_products(a[p], u0, x[p]), u1, x[kPixels + p]);
      b[p] = add_products(add_products(b[p], v0, x[p]), v1, x[kPixels + p]);
    }
  }
  for (int p = 0; p < kPixels; ++p) sums[p] = a[p], sums[kPixels + p] = b[p];
}
#if MOTE_CORTEXM_DSP
// Registers: r4 to r7 accumulators, r8 to r11 inputs.
template <>
[[gnu::naked, gnu::noinline]] inline void add_groups<2>(const uint32_t* /*x*/, const int8_t* /*w0*/, const int8_t* /*w1*/,
                                                        int32_t /*groups*/, int32_t* /*sums*/) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "ldr r12, [sp, #36]\n ldmia r12, {r4-r7}\n"
      // Unrolled by two groups; an odd number enters the loop in the middle.
      "lsrs r3, #1\n bcc 1f\n adds r3, #1\n b 2f\n"
      "1:\n"
      "ldr r12, [r1], #4\n ldmia r0!, {r8-r11}\n"
      "sxtb16 lr, r12\n smlad r4, lr, r8, r4\n smlad r5, lr, r9, r5\n"
      "sxtb16 lr, r12, ror #8\n ldr r12, [r2], #4\n smlad r4, lr, r10, r4\n smlad r5, lr, r11, r5\n"
      "sxtb16 lr, r12\n smlad r6, lr, r8, r6\n smlad r7, lr, r9, r7\n"
      "sxtb16 lr, r12, ror #8\n smlad r6, lr, r10, r6\n smlad r7, lr, r11, r7\n"
      "2:\n"
      "ldr r12, [r1], #4\n ldmia r0!, {r8-r11}\n"
      "sxtb16 lr, r12\n smlad r4, lr, r8, r4\n smlad r5, lr, r9, r5\n"
      "sxtb16 lr, r12, ror #8\n ldr r12, [r2], #4\n smlad r4, lr, r10, r4\n smlad r5, lr, r11, r5\n"
      "sxtb16 lr, r12\n smlad r6, lr, r8, r6\n smlad r7, lr, r9, r7\n"
      "sxtb16 lr, r12, ror #8\n smlad r6, lr, r10, r6\n smlad r7, lr, r11, r7\n"
      "subs r3, #1\n bne 1b\n"
      "ldr r12, [sp, #36]\n stmia r12, {r4-r7}\n pop {r4-r11, pc}\n");
}
#endif

// The same for any K.
template <int kPixels>
inline void dot_2(const uint32_t* x, const int8_t* w0, const int8_t* w1, int32_t count, int32_t* sums) {
  const int32_t groups = count / 4, rest = count % 4;
  if (groups > 0) add_groups<kPixels>(x, w0, w1, groups, sums);
  if (rest == 0) return;
  const uint32_t last[2] = {few_bytes(w0 + groups * 4, rest), few_bytes(w1 + groups * 4, rest)};
  add_groups<kPixels>(x + groups * 2 * kPixels, reinterpret_cast<const int8_t*>(&last[0]), reinterpret_cast<const int8_t*>(&last[1]), 1,
                      sums);
}

}  // namespace mote::cortexm
