#pragma once

// One full panel for up to six rows with sdot, through all of K to the stored bytes, in assembly: accumulators in v8 to v31, four to a row;
// 16 elements of each row in v0 to v5; weights in v6 and v7. That takes all 32 registers; compilers keep some for other values and spill.

#include "mote/kernels/int8/requantize/register_epilogue_neon.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

#define MOTE_ROW(m, text) ".if %c[mr] > " #m "\n" text ".endif\n"
#define MOTE_START(m, a, b, c, d) MOTE_ROW(m, "ldp q" #a ", q" #b ", [%[base]]\nldp q" #c ", q" #d ", [%[base], #32]\n")
#define MOTE_LOAD(m, type, bytes) MOTE_ROW(m, "ldr " type #m ", [%[a" #m "]], #" bytes "\n")
#define MOTE_LOADS(type, bytes) \
  MOTE_LOAD(0, type, bytes)     \
  MOTE_LOAD(1, type, bytes) MOTE_LOAD(2, type, bytes) MOTE_LOAD(3, type, bytes) MOTE_LOAD(4, type, bytes) MOTE_LOAD(5, type, bytes)
#define MOTE_SDOT(m, lane, a, b) \
  MOTE_ROW(m, "sdot v" #a ".4s, v6.16b, v" #m ".4b[" lane "]\nsdot v" #b ".4s, v7.16b, v" #m ".4b[" lane "]\n")
#define MOTE_LANE(lane)                                                                                                                 \
  "ldp q6, q7, [%[w]], #32\n" MOTE_SDOT(0, lane, 8, 9) MOTE_SDOT(1, lane, 12, 13) MOTE_SDOT(2, lane, 16, 17) MOTE_SDOT(3, lane, 20, 21) \
      MOTE_SDOT(4, lane, 24, 25) MOTE_SDOT(5, lane, 28, 29) "ldp q6, q7, [%[w]], #32\n" MOTE_SDOT(0, lane, 10, 11)                      \
          MOTE_SDOT(1, lane, 14, 15) MOTE_SDOT(2, lane, 18, 19) MOTE_SDOT(3, lane, 22, 23) MOTE_SDOT(4, lane, 26, 27)                   \
              MOTE_SDOT(5, lane, 30, 31)
// sqrdmulh, then a right shift that rounds half away from zero.
#define MOTE_SCALE(a, mul, shift) \
  "sqrdmulh v" #a ".4s, v" #a ".4s, " mul "\nssra v" #a ".4s, v" #a ".4s, #31\nsrshl v" #a ".4s, v" #a ".4s, " shift "\n"
#define MOTE_NARROW(m, a, b, c, d)                                                                            \
  MOTE_ROW(m, MOTE_SCALE(a, "v0.4s", "v4.4s") MOTE_SCALE(b, "v1.4s", "v5.4s") MOTE_SCALE(c, "v2.4s", "v6.4s") \
                  MOTE_SCALE(d, "v3.4s", "v7.4s") "sqxtn v" #a ".4h, v" #a ".4s\nsqxtn2 v" #a ".8h, v" #b     \
                                                  ".4s\n"                                                     \
                                                  "sqxtn v" #c ".4h, v" #c ".4s\nsqxtn2 v" #c ".8h, v" #d ".4s\n")
#define MOTE_BYTES(m, a, c)                                                                                                         \
  MOTE_ROW(m, "sqadd v" #a ".8h, v" #a ".8h, v0.8h\nsqadd v" #c ".8h, v" #c ".8h, v0.8h\nsqxtn v" #a ".8b, v" #a ".8h\nsqxtn2 v" #a \
              ".16b, v" #c ".8h\n")
#define MOTE_CLAMP(m, a) MOTE_ROW(m, "smax v" #a ".16b, v" #a ".16b, v1.16b\nsmin v" #a ".16b, v" #a ".16b, v2.16b\n")
#define MOTE_STORE(m, a) MOTE_ROW(m, "str q" #a ", [%[o" #m "]]\n")

// Outputs [output, output + 16) as s8, requantized with integer multipliers, of rows of `k_groups` K groups. MR: 1 to 6.
template <int MR>
MOTE_INLINE void panel_to_bytes_dot(const Lhs* const (&rows)[MR], int64_t k_groups, const int8_t* weights, const RegisterEpilogue& e,
                                    int64_t output, uint8_t* const (&out)[MR]) {
  const auto row = [&](int m) MOTE_LAMBDA { return rows[m < MR ? m : MR - 1]; };
  const auto to = [&](int m) MOTE_LAMBDA { return out[m < MR ? m : MR - 1] + output; };
  const Lhs *a0 = row(0), *a1 = row(1), *a2 = row(2), *a3 = row(3), *a4 = row(4), *a5 = row(5);
  __asm__ volatile(
      MOTE_START(0, 8, 9, 10, 11) MOTE_START(1, 12, 13, 14, 15) MOTE_START(2, 16, 17, 18, 19) MOTE_START(3, 20, 21, 22, 23) MOTE_START(4, 24, 25, 26, 27)
          MOTE_START(5, 28, 29, 30, 31)
      "subs %[k], %[k], #4\n"
      "b.lt 2f\n"
      "1:\n"  //
      MOTE_LOADS("q", "16") MOTE_LANE("0") MOTE_LANE("1") MOTE_LANE("2") MOTE_LANE("3")
      "subs %[k], %[k], #4\n"
      "b.ge 1b\n"
      "2:\n"
      "tbz %[k], #1, 3f\n"  //
      MOTE_LOADS("d", "8") MOTE_LANE("0") MOTE_LANE("1")
      "3:\n"
      "tbz %[k], #0, 4f\n"  //
      MOTE_LOADS("s", "4") MOTE_LANE("0")
      "4:\n"
      "ldp q0, q1, [%[mul]]\n"
      "ldp q2, q3, [%[mul], #32]\n"
      "ldp q4, q5, [%[right]]\n"
      "ldp q6, q7, [%[right], #32]\n"
      "mvn v4.16b, v4.16b\n"
      "mvn v5.16b, v5.16b\n"
      "mvn v6.16b, v6.16b\n"
      "mvn v7.16b, v7.16b\n"  // ChannelParams::right_shift is one less than the shift
      MOTE_NARROW(0, 8, 9, 10, 11) MOTE_NARROW(1, 12, 13, 14, 15) MOTE_NARROW(2, 16, 17, 18, 19) MOTE_NARROW(3, 20, 21, 22, 23)
          MOTE_NARROW(4, 24, 25, 26, 27) MOTE_NARROW(5, 28, 29, 30, 31)
      "ld1r {v0.8h}, [%[zero]]\n"
      MOTE_BYTES(0, 8, 10) MOTE_BYTES(1, 12, 14) MOTE_BYTES(2, 16, 18) MOTE_BYTES(3, 20, 22) MOTE_BYTES(4, 24, 26) MOTE_BYTES(5, 28, 30)
      "cbz %w[clamps], 5f\n"
      "ld1r {v1.16b}, [%[lo]]\n"
      "ld1r {v2.16b}, [%[hi]]\n"  //
      MOTE_CLAMP(0, 8) MOTE_CLAMP(1, 12) MOTE_CLAMP(2, 16) MOTE_CLAMP(3, 20) MOTE_CLAMP(4, 24) MOTE_CLAMP(5, 28)
      "5:\n"  //
      MOTE_STORE(0, 8) MOTE_STORE(1, 12) MOTE_STORE(2, 16) MOTE_STORE(3, 20) MOTE_STORE(4, 24) MOTE_STORE(5, 28)
      : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3), [a4] "+r"(a4), [a5] "+r"(a5), [k] "+r"(k_groups), [w] "+r"(weights)
      : [base] "r"(e.base + output), [mul] "r"(e.multiplier + output), [right] "r"(e.right_shift + output), [zero] "r"(&e.zero), [lo] "r"(&e.lo),
        [hi] "r"(&e.hi), [clamps] "r"(e.clamps), [o0] "r"(to(0)), [o1] "r"(to(1)), [o2] "r"(to(2)), [o3] "r"(to(3)), [o4] "r"(to(4)), [o5] "r"(to(5)),
        [mr] "i"(MR)
      : "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
        "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

#undef MOTE_ROW
#undef MOTE_START
#undef MOTE_LOAD
#undef MOTE_LOADS
#undef MOTE_SDOT
#undef MOTE_LANE
#undef MOTE_SCALE
#undef MOTE_NARROW
#undef MOTE_BYTES
#undef MOTE_CLAMP
#undef MOTE_STORE

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
