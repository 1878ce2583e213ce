// What the arithmetic units and the ways to memory can do at most: loops with nothing to wait for.

#include "mote/kernels/probe/probe.h"

#include "mote/kernels/common/simd.h"

#if defined(MOTE_INTEGER_ISA)
namespace mote::kernels::MOTE_INTEGER_ISA {
uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept;
}
#endif

namespace mote::kernels::MOTE_ISA_NAME {

// mote/kernels/int8/probe.cc.
#if defined(MOTE_INTEGER_ISA)
using MOTE_INTEGER_ISA::probe_dot_s8;
#else
uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept;
#endif

namespace {

using U32 = hn::RebindToUnsigned<F32>;
using VU = hn::Vec<U32>;
constexpr int kVectors = static_cast<int>(kProbeBlock) / (4 * kLanes);  // of a block
constexpr int kAtOnce = kVectors < 8 ? kVectors : 8;

// Sums in registers, enough of them that each has time to finish; *sink keeps them alive.
uint64_t fma_f32(uint32_t rounds, float* sink) noexcept {
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

// Takes note of a value without doing anything with it, where the compiler can be told so.
#if HWY_ARCH_X86
MOTE_INLINE void see(VU v, VU&) { __asm__ volatile("" : : "v"(v.raw)); }
#elif HWY_ARCH_ARM
MOTE_INLINE void see(VU v, VU&) { __asm__ volatile("" : : "w"(v.raw)); }
#else
MOTE_INLINE void see(VU v, VU& all) { all = hn::Or(all, v); }
#endif

void read(const uint8_t* from, uint64_t bytes, float* sink) noexcept {
  const auto* p = reinterpret_cast<const uint32_t*>(from);
  VU all = hn::Zero(U32());
  for (const uint32_t* end = p + bytes / 4; p != end; p += kAtOnce * kLanes)
    unroll<kAtOnce>([&](auto i) MOTE_LAMBDA { see(hn::Load(U32(), p + i * kLanes), all); });
  sink[0] += static_cast<float>(hn::GetLane(all) & 1);
}

// The barriers keep the compiler from making library calls of these loops.
void write(uint8_t* to, uint64_t bytes) noexcept {
  const VU v = hn::Set(U32(), 0x3f800000);
  auto* p = reinterpret_cast<uint32_t*>(to);
  for (const uint32_t* end = p + bytes / 4; p != end; p += kAtOnce * kLanes) {
    unroll<kAtOnce>([&](auto i) MOTE_LAMBDA { hn::Store(v, U32(), p + i * kLanes); });
    __asm__ volatile("" ::: "memory");
  }
}

void copy(const uint8_t* from, uint8_t* to, uint64_t bytes) noexcept {
  const auto* p = reinterpret_cast<const uint32_t*>(from);
  auto* q = reinterpret_cast<uint32_t*>(to);
  for (const uint32_t* end = p + bytes / 4; p != end; p += kAtOnce * kLanes, q += kAtOnce * kLanes) {
    unroll<kAtOnce>([&](auto i) MOTE_LAMBDA { hn::Store(hn::Load(U32(), p + i * kLanes), U32(), q + i * kLanes); });
    __asm__ volatile("" ::: "memory");
  }
}

}  // namespace

Probes probes() noexcept { return {&fma_f32, probe_dot_s8, &read, &write, &copy}; }

}  // namespace mote::kernels::MOTE_ISA_NAME
