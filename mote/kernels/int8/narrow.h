#pragma once

// Vectors of s32 on their way to bytes. What is here:
//   nearest_small(x)             the nearest whole numbers, half to even, of floats whose size is below 2^31
//   ByteBounds(bounds, type)     what a byte may be; the type is s8 or u8
//   store_bytes<V>(v, b, n, to)  the first n elements of V (1 to 4) vectors: the zero point is added, all saturates
//   kRowVectors, store_rows<kRowVectors>(v, b, n, r, to, at)
//                                the same for four vectors, kRowVectors of each row: n elements of r rows (1 to 4 / kRowVectors), to[row] +
//                                at

#include "mote/kernels/int8/sum.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/narrow_x86.h"
#else

namespace mote::kernels::MOTE_ISA_NAME {

MOTE_INLINE VI nearest_small(VFI x) { return hn::NearestInt(x); }

struct ByteBounds {
  ByteBounds(const Bounds& b, DType type) : bounds(b), is_signed(type == DType::s8) {}
  Bounds bounds;
  bool is_signed;
};

template <int V>
MOTE_INLINE void store_bytes(const VI* v, const ByteBounds& b, int32_t count, uint8_t* to) {
  unroll<V>([&](auto i) MOTE_LAMBDA {
    const int32_t some = count - i * kIntLanes;
    if (some <= 0) return;
    const VI x = clamp_within(v[i], b.bounds);
    if (b.is_signed) store_ints(x, some, reinterpret_cast<int8_t*>(to) + i * kIntLanes);
    else store_ints(x, some, to + i * kIntLanes);
  });
}

inline constexpr int kRowVectors = 1;
template <int V>
MOTE_INLINE void store_rows(const VI* v, const ByteBounds& b, int32_t count, int32_t rows, uint8_t* const* to, int32_t at) {
  unroll<4>([&](auto r) MOTE_LAMBDA {
    if (r < rows) store_bytes<1>(v + r, b, count, to[r] + at);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME

#endif
