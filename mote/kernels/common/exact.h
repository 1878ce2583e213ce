#pragma once

// Quotients, roots and whole numbers that are rounded as always. 32-bit Arm has none of vectors: Highway's come near, and lose 0's sign.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

#if HWY_ARCH_ARM_V7
template <class V, class F>
MOTE_INLINE V each_lane(V a, V b, const F& f) {
  const hn::DFromV<V> d;
  alignas(16) float x[4], y[4];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (int i = 0; i < 4; ++i) x[i] = f(x[i], y[i]);
  return hn::Load(d, x);
}
template <class V>
MOTE_INLINE V quotient(V a, V b) {
  return each_lane(a, b, [](float x, float y) { return x / y; });
}
MOTE_INLINE VF root(VF x) {
  return each_lane(x, x, [](float v, float) { return __builtin_sqrtf(v); });
}
// x rounded to a whole number, with the sign of x.
MOTE_INLINE VF signed_as(VF whole, VF x) { return hn::CopySign(whole, x); }
#else
template <class V>
MOTE_INLINE V quotient(V a, V b) {
  return hn::Div(a, b);
}
MOTE_INLINE VF root(VF x) { return hn::Sqrt(x); }
MOTE_INLINE VF signed_as(VF whole, VF) { return whole; }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
