#pragma once

// Division, square root and rounding with IEEE results. 32-bit Arm has no vector instructions for them, and Highway's replacements are
// approximate and lose the sign of 0: there these work lane by lane.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

#if HWY_ARCH_ARM_V7
template <class V, class F>
MOTE_INLINE V map_lanes(V a, V b, const F& f) {
  const hn::DFromV<V> d;
  alignas(16) float x[4], y[4];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (int i = 0; i < 4; ++i) x[i] = f(x[i], y[i]);
  return hn::Load(d, x);
}
template <class V>
MOTE_INLINE V quotient(V a, V b) {
  return map_lanes(a, b, [](float x, float y) { return x / y; });
}
MOTE_INLINE VF square_root(VF x) {
  return map_lanes(x, x, [](float v, float) { return __builtin_sqrtf(v); });
}
// `rounded` (x rounded to an integer) with the sign of x.
MOTE_INLINE VF with_sign_of(VF rounded, VF x) { return hn::CopySign(rounded, x); }
#else
template <class V>
MOTE_INLINE V quotient(V a, V b) {
  return hn::Div(a, b);
}
MOTE_INLINE VF square_root(VF x) { return hn::Sqrt(x); }
MOTE_INLINE VF with_sign_of(VF rounded, VF) { return rounded; }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
