#pragma once

// The vectors of the instruction set that a file is compiled for. Everything that uses this header lives in
// namespace mote::kernels::MOTE_ISA_NAME, so that code of different instruction sets never shares a symbol.

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include <utility>

#define MOTE_INLINE inline __attribute__((always_inline))
// Behind the arguments of a lambda that handles vectors in arrays: without it they would live in memory.
#define MOTE_LAMBDA __attribute__((always_inline))

namespace mote::kernels::MOTE_ISA_NAME {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using VF = hn::Vec<F32>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));
inline constexpr int kPanel = 16;  // outputs of a panel of weights
inline constexpr int kPanelVectors = kPanel / kLanes;
inline constexpr int kRegisters = kLanes == 16 || HWY_ARCH_ARM_A64 ? 32 : 16;

template <int I>
using Index = std::integral_constant<int, I>;

template <class F, int... I>
MOTE_INLINE void unroll_indices(const F& f, std::integer_sequence<int, I...>) {
  (f(Index<I>{}), ...);
}
// f(0), f(1), ... with constant arguments: arrays indexed by them stay in registers.
template <int N, class F>
MOTE_INLINE void unroll(const F& f) {
  unroll_indices(f, std::make_integer_sequence<int, N>{});
}

MOTE_INLINE VF load(const float* p) { return hn::LoadU(F32(), p); }
MOTE_INLINE void store(VF v, float* p) { hn::StoreU(v, F32(), p); }
MOTE_INLINE VF broadcast(float v) { return hn::Set(F32(), v); }

// The larger, the smaller of two; NaN where b is NaN.
#if HWY_ARCH_ARM
MOTE_INLINE VF larger(VF a, VF b) { return VF(vmaxq_f32(a.raw, b.raw)); }
MOTE_INLINE VF smaller(VF a, VF b) { return VF(vminq_f32(a.raw, b.raw)); }
#else
MOTE_INLINE VF larger(VF a, VF b) { return hn::Max(a, b); }
MOTE_INLINE VF smaller(VF a, VF b) { return hn::Min(a, b); }
#endif

// sum += a * b, in sum's own register: left to itself, GCC moves sums about.
#if HWY_ARCH_X86 && defined(__GNUC__)
MOTE_INLINE void add_product(VF& sum, VF a, VF b) {
  auto raw = sum.raw;  // of its own: an operand that names memory would keep the array there
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(raw) : "v"(a.raw), "v"(b.raw));
  sum.raw = raw;
}
#else
MOTE_INLINE void add_product(VF& sum, VF a, VF b) { sum = hn::MulAdd(a, b, sum); }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
