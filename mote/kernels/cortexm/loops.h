#pragma once

// The hot loops in assembly, for the 14 general registers of Armv7E-M: multiply-adds, requantization and stores in one. Other machines use
// the C++ loops beside the callers, which are bit-exact with these.

#include "mote/kernels/cortexm/requant.h"

namespace mote::cortexm {

// Three pixels times all output channels, two at a time; weights and inputs as in dot_3x2.
struct ConvLoop {
  const uint32_t* weights;
  const uint32_t* x;
  uint32_t groups;
  const Channel* channels;
  int32_t left, pairs;
  int8_t* out[3];  // the first is written last
};

#if MOTE_CORTEXM_DSP
constexpr bool kHasLoops = true;

// Registers: r4 to r9 accumulators, r10 to r12 inputs. On the stack: x, groups, channels, left, pairs, the three output pointers.
[[gnu::naked, gnu::noinline]] inline void conv_loop(const ConvLoop& /*loop*/) {
  asm volatile(
      ".macro mote_half\n"
      "ldr r3, [r1], #4\n ldmia r0!, {r10, r11, r12}\n"
      "sxtb16 lr, r3\n smlad r4, lr, r10, r4\n smlad r5, lr, r11, r5\n smlad r6, lr, r12, r6\n"
      "sxtb16 lr, r3, ror #8\n smlad r7, lr, r10, r7\n smlad r8, lr, r11, r8\n smlad r9, lr, r12, r9\n"
      ".endm\n"
      ".macro mote_scale v\n"
      "lsl \\v, \\v, r2\n smmulr \\v, \\v, r10\n add \\v, \\v, \\v, asr #31\n add \\v, \\v, r11\n asr \\v, \\v, r12\n ssat \\v, #8, \\v\n"
      ".endm\n"
      "push {r4-r11, lr}\n"
      "ldmia r0, {r1-r9}\n"
      "stmdb sp!, {r2-r9}\n"
      "1:\n"
      "ldrd r0, r2, [sp]\n ldr r3, [sp, #8]\n ldr r4, [r3]\n ldr r7, [r3, #16]\n"
      "mov r5, r4\n mov r6, r4\n mov r8, r7\n mov r9, r7\n"
      "lsrs r2, r2, #1\n bcc 2f\n"
      "mote_half\n mote_half\n"
      "cmp r2, #0\n beq 3f\n"
      "2:\n"
      "mote_half\n mote_half\n mote_half\n mote_half\n"
      "subs r2, r2, #1\n bne 2b\n"
      "3:\n"
      "ldrd r3, r2, [sp, #8]\n ldrd r10, r11, [r3, #4]\n ldr r12, [r3, #12]\n"
      "mote_scale r4\n mote_scale r5\n mote_scale r6\n"
      "ldrd r10, r11, [r3, #20]\n ldr r12, [r3, #28]\n"
      "mote_scale r7\n mote_scale r8\n mote_scale r9\n"
      "adds r3, #32\n str r3, [sp, #8]\n"
      "add r0, sp, #20\n ldmia r0, {r10, r11, r12}\n"
      "strb r6, [r12], #1\n strb r9, [r12], #1\n strb r5, [r11], #1\n strb r8, [r11], #1\n strb r4, [r10], #1\n strb r7, [r10], #1\n"
      "stmia r0, {r10, r11, r12}\n"
      "ldr r3, [sp, #16]\n subs r3, #1\n str r3, [sp, #16]\n bne 1b\n"
      "add sp, #32\n pop {r4-r11, pc}\n"
      ".purgem mote_half\n .purgem mote_scale\n");
}

// All channels of one pixel over 9 taps, four at a time, with accumulators in r4 to r7. Reads bytes [begin, end) of each tap. No left shift
// before requantization. begin and end are on the stack.
[[gnu::naked, gnu::noinline]] inline void depthwise_loop_9(const int8_t* const* /*taps*/, const uint32_t* /*weights*/,
                                                           const Channel* /*channels*/, int8_t* /*out*/, int32_t /*begin*/,
                                                           int32_t /*end*/) {
  asm volatile(
      ".macro mote_scale v, at\n"
      "ldrd r8, r9, [r3, #\\at + 4]\n ldr r10, [r3, #\\at + 12]\n"
      "smmulr \\v, \\v, r8\n add \\v, \\v, \\v, asr #31\n add \\v, \\v, r9\n asr \\v, \\v, r10\n ssat \\v, #8, \\v\n"
      "strb \\v, [r12], #1\n"
      ".endm\n"
      "push {r4-r11, lr}\n"
      "mov r12, r3\n mov r3, r2\n mov r2, r1\n ldr r1, [sp, #36]\n ldr lr, [sp, #40]\n"
      "1:\n"
      "ldr r4, [r3]\n ldr r5, [r3, #16]\n ldr r6, [r3, #32]\n ldr r7, [r3, #48]\n"
      ".rept 9\n"
      "ldr r10, [r0], #4\n ldr r10, [r10, r1]\n ldmia r2!, {r8, r9}\n sxtb16 r11, r10\n sxtb16 r10, r10, ror #8\n"
      "smlabb r4, r11, r8, r4\n smlatt r6, r11, r8, r6\n smlabb r5, r10, r9, r5\n smlatt r7, r10, r9, r7\n"
      ".endr\n"
      "mote_scale r4, 0\n mote_scale r5, 16\n mote_scale r6, 32\n mote_scale r7, 48\n"
      "subs r0, #36\n adds r3, #64\n adds r1, #4\n cmp r1, lr\n blt 1b\n"
      "pop {r4-r11, pc}\n"
      ".purgem mote_scale\n");
}
// Four output channels of one row of inputs, requantized and packed into a word; weights and inputs as in dot_1x4. Accumulators in r4 to
// r7; left is on the stack.
[[gnu::naked, gnu::noinline]] inline uint32_t fully_connected_loop(const int8_t* /*x*/, const uint32_t* /*weights*/, uint32_t /*groups*/,
                                                                   const Channel* /*channels*/, int32_t /*left*/) {
  asm volatile(
      ".macro mote_channel v, w\n"
      "sxtb16 r3, \\w\n smlad \\v, r12, r3, \\v\n sxtb16 \\w, \\w, ror #8\n smlad \\v, lr, \\w, \\v\n"
      ".endm\n"
      ".macro mote_scale v, at\n"
      "ldrd r8, r9, [r3, #\\at + 4]\n ldr r10, [r3, #\\at + 12]\n"
      "lsl \\v, \\v, lr\n smmulr \\v, \\v, r8\n add \\v, \\v, \\v, asr #31\n add \\v, \\v, r9\n asr \\v, \\v, r10\n ssat \\v, #8, \\v\n"
      ".endm\n"
      "push {r3-r11, lr}\n"
      "ldr r4, [r3]\n ldr r5, [r3, #16]\n ldr r6, [r3, #32]\n ldr r7, [r3, #48]\n"
      "1:\n"
      "ldr lr, [r0], #4\n ldmia r1!, {r8-r11}\n sxtb16 r12, lr\n sxtb16 lr, lr, ror #8\n"
      "mote_channel r4, r8\n mote_channel r5, r9\n mote_channel r6, r10\n mote_channel r7, r11\n"
      "subs r2, r2, #1\n bne 1b\n"
      "ldr r3, [sp]\n ldr lr, [sp, #40]\n"
      "mote_scale r4, 0\n mote_scale r5, 16\n mote_scale r6, 32\n mote_scale r7, 48\n"
      "bfi r4, r5, #8, #8\n bfi r4, r6, #16, #8\n bfi r4, r7, #24, #8\n mov r0, r4\n"
      "pop {r3-r11, pc}\n"
      ".purgem mote_channel\n .purgem mote_scale\n");
}
#else
constexpr bool kHasLoops = false;
inline uint32_t fully_connected_loop(const int8_t*, const uint32_t*, uint32_t, const Channel*, int32_t) { return 0; }
inline void conv_loop(const ConvLoop&) {}
inline void depthwise_loop_9(const int8_t* const*, const uint32_t*, const Channel*, int8_t*, int32_t, int32_t) {}
#endif

}  // namespace mote::cortexm
