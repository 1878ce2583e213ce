#pragma once

// A full panel times up to six rows in assembly, with fixed registers: accumulators in v8 to v31, four per row; four LHS values of each row
// in v0 to v5; weights in v6 and v7. Compilers reserve some of these and spill inside the loop.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

#define MOTE_ROW(m, text) ".if %c[mr] > " #m "\n" text ".endif\n"
#define MOTE_START(m, a, b, c, d) MOTE_ROW(m, "ldp q" #a ", q" #b ", [%[bias]]\nldp q" #c ", q" #d ", [%[bias], #32]\n")
#define MOTE_LOAD(m) MOTE_ROW(m, "ldr q" #m ", [%[a" #m "]], #16\n")
#define MOTE_FMLA(m, lane, a, b) MOTE_ROW(m, "fmla v" #a ".4s, v6.4s, v" #m ".s[" lane "]\nfmla v" #b ".4s, v7.4s, v" #m ".s[" lane "]\n")
#define MOTE_LANE(lane)                                                                                                                 \
  "ldp q6, q7, [%[w]], #32\n" MOTE_FMLA(0, lane, 8, 9) MOTE_FMLA(1, lane, 12, 13) MOTE_FMLA(2, lane, 16, 17) MOTE_FMLA(3, lane, 20, 21) \
      MOTE_FMLA(4, lane, 24, 25) MOTE_FMLA(5, lane, 28, 29) "ldp q6, q7, [%[w]], #32\n" MOTE_FMLA(0, lane, 10, 11)                      \
          MOTE_FMLA(1, lane, 14, 15) MOTE_FMLA(2, lane, 18, 19) MOTE_FMLA(3, lane, 22, 23) MOTE_FMLA(4, lane, 26, 27)                   \
              MOTE_FMLA(5, lane, 30, 31)
#define MOTE_CLAMP(a) "fmax v" #a ".4s, v" #a ".4s, v0.4s\nfmin v" #a ".4s, v" #a ".4s, v1.4s\n"
#define MOTE_STORE(m, a, b, c, d)                                                                     \
  MOTE_ROW(m, MOTE_CLAMP(a) MOTE_CLAMP(b) MOTE_CLAMP(c) MOTE_CLAMP(d) "stp q" #a ", q" #b ", [%[o" #m \
                                                                      "]]\n"                          \
                                                                      "stp q" #c ", q" #d ", [%[o" #m "], #32]\n")

// out[m][offset + 0..15] = clamp(bias + sum over i < k of rows[m][i] * weights[i][0..15]). k: a positive multiple of four. MR: 1 to 6.
template <int MR>
MOTE_INLINE void panel_f32_asm(const float* const (&rows)[MR], int64_t k, const float* weights, const float* bias, const float* lo,
                               const float* hi, float* const* out, int64_t offset) {
  const auto row = [&](int m) MOTE_LAMBDA { return rows[m < MR ? m : MR - 1]; };
  const auto to = [&](int m) MOTE_LAMBDA { return out[m < MR ? m : MR - 1] + offset; };
  const float *a0 = row(0), *a1 = row(1), *a2 = row(2), *a3 = row(3), *a4 = row(4), *a5 = row(5);
  __asm__ volatile(
      MOTE_START(0, 8, 9, 10, 11) MOTE_START(1, 12, 13, 14, 15) MOTE_START(2, 16, 17, 18, 19) MOTE_START(3, 20, 21, 22, 23) MOTE_START(4, 24, 25, 26, 27)
          MOTE_START(5, 28, 29, 30, 31)
      "1:\n"  //
      MOTE_LOAD(0) MOTE_LOAD(1) MOTE_LOAD(2) MOTE_LOAD(3) MOTE_LOAD(4) MOTE_LOAD(5)
          MOTE_LANE("0") MOTE_LANE("1") MOTE_LANE("2") MOTE_LANE("3")
      "subs %[k], %[k], #4\n"
      "b.gt 1b\n"
      "ld1r {v0.4s}, [%[lo]]\n"
      "ld1r {v1.4s}, [%[hi]]\n"  //
      MOTE_STORE(0, 8, 9, 10, 11) MOTE_STORE(1, 12, 13, 14, 15) MOTE_STORE(2, 16, 17, 18, 19) MOTE_STORE(3, 20, 21, 22, 23)
          MOTE_STORE(4, 24, 25, 26, 27) MOTE_STORE(5, 28, 29, 30, 31)
      : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [a4] "+r"(a4), [a5] "+r"(a5), [k] "+r"(k), [w] "+r"(weights)
      : [bias] "r"(bias), [lo] "r"(lo), [hi] "r"(hi), [o0] "r"(to(0)), [o1] "r"(to(1)), [o2] "r"(to(2)), [o3] "r"(to(3)),
        [o4] "r"(to(4)), [o5] "r"(to(5)), [mr] "i"(MR)
      : "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
        "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#undef MOTE_ROW
#undef MOTE_START
#undef MOTE_LOAD
#undef MOTE_FMLA
#undef MOTE_LANE
#undef MOTE_CLAMP
#undef MOTE_STORE

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
