#pragma once

// The inner loops: dot products of inputs with 8-bit weights.

#include "mote/kernels/cortexm/dsp.h"

namespace mote::cortexm {

constexpr int kPixels = 3;  // output pixels that are computed together

// Three pixels times two output channels, over at least one K group (4 inputs). x: for each group three words with inputs 0 and 2 of each
// pixel, then three with inputs 1 and 3. w: for each group two words, bytes (n0 k0, n1 k0, n0 k2, n1 k2) and (n0 k1, n1 k1, n0 k3, n1 k3).
// sums: on entry the two biases; on return three accumulators of channel 0, then three of channel 1.
inline void dot_3x2(const uint32_t* x, const uint32_t* w, uint32_t groups, int32_t* sums) {
  int32_t a[3] = {sums[0], sums[0], sums[0]}, b[3] = {sums[1], sums[1], sums[1]};
  for (uint32_t i = 0; i < groups * 2; ++i, ++w, x += 3) {
    for (int p = 0; p < 3; ++p) {
      a[p] = add_products(a[p], even_bytes(*w), x[p]);
      b[p] = add_products(b[p], odd_bytes(*w), x[p]);
    }
  }
  for (int p = 0; p < 3; ++p) sums[p] = a[p], sums[3 + p] = b[p];
}

// One row of inputs times four output channels. w: for each K group one word of each channel. sums: on entry the biases, on return
// accumulators.
#if MOTE_CORTEXM_DSP
[[gnu::naked, gnu::noinline]] inline void dot_1x4(const int8_t* /*x*/, const uint32_t* /*w*/, uint32_t /*groups*/, int32_t* /*sums*/) {
  asm volatile(
      "push {r3-r11, lr}\n"
      "ldmia r3, {r4-r7}\n"
      "1:\n"
      "ldr lr, [r0], #4\n ldmia r1!, {r8-r11}\n"
      "sxtb16 r12, lr\n sxtb16 lr, lr, ror #8\n"
      "sxtb16 r3, r8\n smlad r4, r12, r3, r4\n sxtb16 r8, r8, ror #8\n smlad r4, lr, r8, r4\n"
      "sxtb16 r3, r9\n smlad r5, r12, r3, r5\n sxtb16 r9, r9, ror #8\n smlad r5, lr, r9, r5\n"
      "sxtb16 r3, r10\n smlad r6, r12, r3, r6\n sxtb16 r10, r10, ror #8\n smlad r6, lr, r10, r6\n"
      "sxtb16 r3, r11\n smlad r7, r12, r3, r7\n sxtb16 r11, r11, ror #8\n smlad r7, lr, r11, r7\n"
      "subs r2, r2, #1\n bne 1b\n"
      "pop {r3}\n stmia r3, {r4-r7}\n pop {r4-r11, pc}\n");
}
#else
inline void dot_1x4(const int8_t* x, const uint32_t* w, uint32_t groups, int32_t* sums) {
  for (uint32_t i = 0; i < groups; ++i, x += 4) {
    const uint32_t v = load_word(x);
    for (int n = 0; n < 4; ++n, ++w)
      sums[n] = add_products(add_products(sums[n], even_bytes(*w), even_bytes(v)), odd_bytes(*w), odd_bytes(v));
  }
}
#endif

}  // namespace mote::cortexm
