#pragma once

// From vectors of s32 to bytes:
//   round_half_even(x)                f32 to s32, |x| below 2^31
//   ByteClampRange(range, type)       zero point and clamp bounds of an s8 or u8 output, as the functions below take them
//   store_bytes<V>(v, b, n, to)       n bytes from V (1 to 4) vectors: zero point added, saturated, clamped
//   store_rows<kVectorsPerRow>(v, b, n, rows, to, offset)
//                                     the same for four vectors, kVectorsPerRow of each row: n bytes to each to[row] + offset

#include "mote/kernels/int8/requantize/add.h"

#if HWY_ARCH_X86
#include "mote/kernels/int8/requantize/narrow_x86.h"
#else

namespace mote::kernels::MOTE_ISA_NAME::int8 {

MOTE_INLINE VI round_half_even(VFI x) { return hn::NearestInt(x); }

struct ByteClampRange {
  ByteClampRange(const ClampRange& b, DType type) : bounds(b), is_signed(type == DType::s8) {}
  ClampRange bounds;
  bool is_signed;
};

template <int V>
MOTE_INLINE void store_bytes(const VI* v, const ByteClampRange& b, int32_t count, uint8_t* to) {
  unroll<V>([&](auto i) MOTE_LAMBDA {
    const int32_t remaining = count - i * kIntLanes;
    if (remaining <= 0) return;
    const VI x = clamp_and_offset(v[i], b.bounds);
    if (b.is_signed) store_ints(x, remaining, reinterpret_cast<int8_t*>(to) + i * kIntLanes);
    else store_ints(x, remaining, to + i * kIntLanes);
  });
}

inline constexpr int kVectorsPerRow = 1;
template <int V>
MOTE_INLINE void store_rows(const VI* v, const ByteClampRange& b, int32_t count, int32_t rows, uint8_t* const* to, int32_t offset) {
  unroll<4>([&](auto r) MOTE_LAMBDA {
    if (r < rows) store_bytes<1>(v + r, b, count, to[r] + offset);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8

#endif
