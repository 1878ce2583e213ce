// Peak rates of arithmetic and memory: loops without dependences that would stall them.

#include "mote/kernels/probe/probe.h"

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

namespace {

using U32 = hn::RebindToUnsigned<F32>;
using VU = hn::Vec<U32>;
constexpr int kVectors = static_cast<int>(kProbeBlock) / (4 * kLanes);  // vectors of a block
constexpr int kUnrolledVectors = kVectors < 8 ? kVectors : 8;

// Enough independent accumulators in registers to hide the latency of the multiply-add; *sink keeps the results alive.
uint64_t fma_f32(uint32_t rounds, float* sink) noexcept {
  constexpr int kAccumulators = kRegisters == 32 ? 24 : 12, kUnroll = 8;
  VF acc[kAccumulators];
  unroll<kAccumulators>([&](auto i) MOTE_LAMBDA { acc[i] = broadcast(sink[0] + static_cast<float>(i)); });
  const VF a = broadcast(sink[1]), b = broadcast(sink[2]);
  for (uint32_t r = 0; r < rounds; ++r)
    unroll<kUnroll>([&](auto) MOTE_LAMBDA { unroll<kAccumulators>([&](auto i) MOTE_LAMBDA { acc[i] = hn::MulAdd(acc[i], a, b); }); });
  unroll<kAccumulators>([&](auto i) MOTE_LAMBDA { acc[0] = hn::Add(acc[0], acc[i]); });
  sink[0] = hn::GetLane(acc[0]);
  return uint64_t{rounds} * kUnroll * kAccumulators * kLanes * 2;
}

// Makes the compiler treat a loaded value as used, without an instruction where inline assembly allows it.
#if HWY_ARCH_X86
MOTE_INLINE void keep(VU v, VU&) { __asm__ volatile("" : : "v"(v.raw)); }
#elif HWY_ARCH_ARM
MOTE_INLINE void keep(VU v, VU&) { __asm__ volatile("" : : "w"(v.raw)); }
#else
MOTE_INLINE void keep(VU v, VU& all) { all = hn::Or(all, v); }
#endif

void read(const uint8_t* from, uint64_t bytes, float* sink) noexcept {
  const auto* p = reinterpret_cast<const uint32_t*>(from);
  VU all = hn::Zero(U32());
  for (const uint32_t* end = p + bytes / 4; p != end; p += kUnrolledVectors * kLanes)
    unroll<kUnrolledVectors>([&](auto i) MOTE_LAMBDA { keep(hn::Load(U32(), p + i * kLanes), all); });
  sink[0] += static_cast<float>(hn::GetLane(all) & 1);
}

// The barriers keep the compiler from replacing these loops with calls of memset and memcpy.
void write(uint8_t* to, uint64_t bytes) noexcept {
  const VU v = hn::Set(U32(), 0x3f800000);
  auto* p = reinterpret_cast<uint32_t*>(to);
  for (const uint32_t* end = p + bytes / 4; p != end; p += kUnrolledVectors * kLanes) {
    unroll<kUnrolledVectors>([&](auto i) MOTE_LAMBDA { hn::Store(v, U32(), p + i * kLanes); });
    __asm__ volatile("" ::: "memory");
  }
}

void copy(const uint8_t* from, uint8_t* to, uint64_t bytes) noexcept {
  const auto* p = reinterpret_cast<const uint32_t*>(from);
  auto* q = reinterpret_cast<uint32_t*>(to);
  for (const uint32_t* end = p + bytes / 4; p != end; p += kUnrolledVectors * kLanes, q += kUnrolledVectors * kLanes) {
    unroll<kUnrolledVectors>([&](auto i) MOTE_LAMBDA { hn::Store(hn::Load(U32(), p + i * kLanes), U32(), q + i * kLanes); });
    __asm__ volatile("" ::: "memory");
  }
}

}  // namespace

void add_float_probes(Probes* probes) noexcept {
  probes->fma_f32 = &fma_f32;
  probes->read = &read;
  probes->write = &write;
  probes->copy = &copy;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
