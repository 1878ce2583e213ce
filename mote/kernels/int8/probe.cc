// What the integer kernels' own multiplication can do at most: mote/kernels/probe.

#include "mote/kernels/int8/dot.h"

#if defined(MOTE_FIRST_ISA)
namespace mote::kernels {
namespace MOTE_FIRST_ISA {
uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept;
}
namespace MOTE_ISA_NAME {
// What quantizers make is multiplied by the layer that is asked first.
uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept { return MOTE_FIRST_ISA::probe_dot_s8(rounds, sink); }
}  // namespace MOTE_ISA_NAME
}  // namespace mote::kernels
#else
namespace mote::kernels::MOTE_ISA_NAME {

// For all that the compiler knows: else it would multiply once and only add.
#if HWY_ARCH_ARM
MOTE_INLINE void change(Operand& w) { __asm__ volatile("" : "+w"(w)); }
#elif HWY_ARCH_WASM
MOTE_INLINE void change(Register& w) { w = wasm_i32x4_add(w, wasm_i32x4_splat(1)); }
#else
MOTE_INLINE void change(Register& w) { __asm__ volatile("" : "+v"(w)); }
#endif

uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept {
  constexpr int kSums = kRegisters == 32 ? 24 : 12, kUnroll = 8;
  alignas(64) int8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<int8_t>(static_cast<int>(sink[1] * 8) + i % 7);
  Register sum[kSums];
  unroll<kSums>([&](auto i) MOTE_LAMBDA { sum[i] = zero_register(); });
  const Operand x = load_operand(bytes);
  Operand w = x;
  for (uint32_t r = 0; r < rounds; ++r) {
    unroll<kUnroll>([&](auto) MOTE_LAMBDA {
      unroll<kSums>([&](auto i) MOTE_LAMBDA {
        change(w);
        sum[i] = dot(sum[i], x, w);
      });
    });
  }
  unroll<kSums>([&](auto i) MOTE_LAMBDA { sum[0] = add(sum[0], sum[i]); });
  alignas(64) int32_t result[16];
  store_register(result, sum[0]);
  sink[0] += static_cast<float>(result[0] & 1);
  return uint64_t{rounds} * kUnroll * kSums * kVectorOutputs * 4 * 2;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
#endif
