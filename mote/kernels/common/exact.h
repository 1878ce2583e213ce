#pragma once

// Quotients and roots that are rounded as always. 32-bit Arm has none of vectors: Highway's come near.

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
#else
template <class V>
MOTE_INLINE V quotient(V a, V b) {
  return hn::Div(a, b);
}
MOTE_INLINE VF root(VF x) { return hn::Sqrt(x); }
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME
