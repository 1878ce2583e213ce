#pragma once

// The vectors of the ISA variant that a file is compiled for, over Highway. Everything that uses this header lives in namespace
// mote::kernels::MOTE_ISA_NAME, so that code of different variants never shares a symbol.

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include <utility>

#define MOTE_INLINE inline __attribute__((always_inline))
// For lambdas that index arrays of vectors: they must be inlined, or the arrays would live in memory instead of registers.
#define MOTE_LAMBDA __attribute__((always_inline))

namespace mote::kernels::MOTE_ISA_NAME {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using VF = hn::Vec<F32>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));
inline constexpr int kPanel = 16;  // output channels of a panel of packed weights (core/layout.h)
inline constexpr int kPanelVectors = kPanel / kLanes;
inline constexpr int kRegisters = kLanes == 16 || HWY_ARCH_ARM_A64 ? 32 : 16;

template <int I>
using Index = std::integral_constant<int, I>;

template <class F, int... I>
MOTE_INLINE void unroll_indices(const F& f, std::integer_sequence<int, I...>) {
  (f(Index<I>{}), ...);
}
// f(0), f(1), ... with compile-time arguments: arrays of vectors that are indexed by them stay in registers.
template <int N, class F>
MOTE_INLINE void unroll(const F& f) {
  unroll_indices(f, std::make_integer_sequence<int, N>{});
}

MOTE_INLINE VF load(const float* p) { return hn::LoadU(F32(), p); }
MOTE_INLINE void store(VF v, float* p) { hn::StoreU(v, F32(), p); }
MOTE_INLINE VF broadcast(float v) { return hn::Set(F32(), v); }

// Maximum and minimum of two; NaN where b is NaN, whatever a is.
#if HWY_ARCH_ARM
MOTE_INLINE VF larger(VF a, VF b) { return VF(vmaxq_f32(a.raw, b.raw)); }
MOTE_INLINE VF smaller(VF a, VF b) { return VF(vminq_f32(a.raw, b.raw)); }
#else
MOTE_INLINE VF larger(VF a, VF b) { return hn::Max(a, b); }
MOTE_INLINE VF smaller(VF a, VF b) { return hn::Min(a, b); }
#endif

// acc += a * b, in acc's own register: GCC otherwise copies accumulators between registers inside loops.
#if HWY_ARCH_X86 && defined(__GNUC__)
MOTE_INLINE void add_product(VF& acc, VF a, VF b) {
  auto raw = acc.raw;  // a copy: an asm operand that names an array element would keep the array in memory
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(raw) : "v"(a.raw), "v"(b.raw));
  acc.raw = raw;
}
#else
MOTE_INLINE void add_product(VF& acc, VF a, VF b) { acc = hn::MulAdd(a, b, acc); }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
