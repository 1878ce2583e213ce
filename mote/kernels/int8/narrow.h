#pragma once

// Vectors of s32 on their way to bytes. What is here:
//   nearest_small(x)             the nearest whole numbers, half to even, of floats whose size is below 2^31
//   ByteBounds<T>                what a byte may be; T is int8_t or uint8_t
//   store_bytes<V>(v, b, n, to)  the first n elements of V (1 to 4) vectors: the zero point is added, all saturates

#include "mote/kernels/int8/sum.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/narrow_x86.h"
#else

namespace mote::kernels::MOTE_ISA_NAME {

MOTE_INLINE VI nearest_small(VFI x) { return hn::NearestInt(x); }

template <class T>
struct ByteBounds {
  explicit ByteBounds(const Bounds& b) : bounds(b) {}
  Bounds bounds;
};

template <int V, class T>
MOTE_INLINE void store_bytes(const VI* v, const ByteBounds<T>& b, int32_t count, T* to) {
  unroll<V>([&](auto i) MOTE_LAMBDA {
    if (count > i * kIntLanes) store_ints(clamp_within(v[i], b.bounds), count - i * kIntLanes, to + i * kIntLanes);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#endif
