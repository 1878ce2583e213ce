// Peak throughput of dot(): the roofline that mote/kernels/probe reports.

#include "mote/kernels/probe/probe.h"
#include "mote/kernels/int8/dot/dot.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Makes the operand opaque: otherwise the compiler would multiply once and only repeat the addition.
#if HWY_ARCH_ARM
MOTE_INLINE void hide_from_optimizer(Operand& w) { __asm__ volatile("" : "+w"(w)); }
#elif HWY_ARCH_WASM
MOTE_INLINE void hide_from_optimizer(Register& w) { w = wasm_i32x4_add(w, wasm_i32x4_splat(1)); }
#else
MOTE_INLINE void hide_from_optimizer(Register& w) { __asm__ volatile("" : "+v"(w)); }
#endif

static uint64_t dot_s8(uint32_t rounds, float* sink) noexcept {
  constexpr int kAccumulators = kRegisters == 32 ? 24 : 12, kUnroll = 8;
  alignas(64) int8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<int8_t>(static_cast<int>(sink[1] * 8) + i % 7);
  Register acc[kAccumulators];
  unroll<kAccumulators>([&](auto i) MOTE_LAMBDA { acc[i] = zero_register(); });
  const Operand x = load_operand(bytes);
  Operand w = x;
  for (uint32_t r = 0; r < rounds; ++r) {
    unroll<kUnroll>([&](auto) MOTE_LAMBDA {
      unroll<kAccumulators>([&](auto i) MOTE_LAMBDA {
        hide_from_optimizer(w);
        acc[i] = dot(acc[i], x, w);
      });
    });
  }
  unroll<kAccumulators>([&](auto i) MOTE_LAMBDA { acc[0] = add(acc[0], acc[i]); });
  alignas(64) int32_t result[16];
  store_register(result, acc[0]);
  sink[0] += static_cast<float>(result[0] & 1);
  return uint64_t{rounds} * kUnroll * kAccumulators * kVectorOutputs * 4 * 2;
}

void add_dot_probe(Probes* probes) noexcept { probes->dot_s8 = &dot_s8; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
