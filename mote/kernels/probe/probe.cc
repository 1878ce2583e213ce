// What the arithmetic units can do at most: products with nothing to wait for.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Sums in registers, enough of them that each has time to finish. Returns the floating-point operations done; *sink keeps them alive.
uint64_t probe_fma_f32(uint32_t rounds, float* sink) noexcept {
  constexpr int kSums = kRegisters == 32 ? 24 : 12, kUnroll = 8;
  VF sum[kSums];
  unroll<kSums>([&](auto i) MOTE_LAMBDA { sum[i] = broadcast(sink[0] + static_cast<float>(i)); });
  const VF a = broadcast(sink[1]), b = broadcast(sink[2]);
  for (uint32_t r = 0; r < rounds; ++r)
    unroll<kUnroll>([&](auto) MOTE_LAMBDA { unroll<kSums>([&](auto i) MOTE_LAMBDA { sum[i] = hn::MulAdd(sum[i], a, b); }); });
  unroll<kSums>([&](auto i) MOTE_LAMBDA { sum[0] = hn::Add(sum[0], sum[i]); });
  sink[0] = hn::GetLane(sum[0]);
  return uint64_t{rounds} * kUnroll * kSums * kLanes * 2;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
