#pragma once

// The contract is in narrow.h. Packing works lane by lane (of 16 bytes): four of the first vector, four of the second and so on, which
// join() leaves and in_order() puts right.

#include <immintrin.h>

#include "mote/kernels/int8/bytes.h"
#include "mote/kernels/int8/sum.h"

namespace mote::kernels::MOTE_ISA_NAME {

#if defined(__AVX512BW__)
using ByteVector = __m512i;
MOTE_INLINE VI nearest_small(VFI x) { return VI{_mm512_cvtps_epi32(x.raw)}; }
MOTE_INLINE ByteVector all_bytes(int32_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
MOTE_INLINE ByteVector all_shorts(int32_t v) { return _mm512_set1_epi16(static_cast<short>(v)); }
MOTE_INLINE ByteVector shorts_of(VI a, VI b, ByteVector add) { return _mm512_adds_epi16(_mm512_packs_epi32(a.raw, b.raw), add); }
MOTE_INLINE ByteVector bytes_within(ByteVector a, ByteVector b, ByteVector lo, ByteVector hi) {
  return _mm512_min_epi8(hi, _mm512_max_epi8(lo, _mm512_packs_epi16(a, b)));
}
MOTE_INLINE ByteVector in_order(ByteVector v) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}
MOTE_INLINE void store_some(ByteVector v, int32_t count, void* to) {
  if (count >= 64) return _mm512_storeu_si512(to, v);
  _mm512_mask_storeu_epi8(to, (__mmask64{1} << count) - 1, v);
}
MOTE_INLINE ByteVector flipped(ByteVector v, ByteVector by) { return _mm512_xor_si512(v, by); }
#else
using ByteVector = __m256i;
MOTE_INLINE VI nearest_small(VFI x) { return VI{_mm256_cvtps_epi32(x.raw)}; }
MOTE_INLINE ByteVector all_bytes(int32_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
MOTE_INLINE ByteVector all_shorts(int32_t v) { return _mm256_set1_epi16(static_cast<short>(v)); }
MOTE_INLINE ByteVector shorts_of(VI a, VI b, ByteVector add) { return _mm256_adds_epi16(_mm256_packs_epi32(a.raw, b.raw), add); }
MOTE_INLINE ByteVector bytes_within(ByteVector a, ByteVector b, ByteVector lo, ByteVector hi) {
  return _mm256_min_epi8(hi, _mm256_max_epi8(lo, _mm256_packs_epi16(a, b)));
}
MOTE_INLINE ByteVector in_order(ByteVector v) { return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)); }
MOTE_INLINE ByteVector flipped(ByteVector v, ByteVector by) { return _mm256_xor_si256(v, by); }
MOTE_INLINE void store_some(ByteVector v, int32_t count, void* to) {
  uint8_t* at = static_cast<uint8_t*>(to);
  if (count >= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), v);
  alignas(32) uint8_t some[32];
  _mm256_store_si256(reinterpret_cast<__m256i*>(some), v);
  if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128(v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at + count - 16), _mm_loadu_si128(reinterpret_cast<const __m128i*>(some + count - 16)));
  } else {
    copy_exactly(at, some, count);
  }
}
#endif
inline constexpr int kRowVectors = kIntLanes == 16 ? 1 : 2;
inline constexpr int kByteLanes = static_cast<int>(sizeof(ByteVector));

// The zero point is added as s16: what does not fit is far outside of the bounds anyway. A u8 is computed as s8, less 128, and flipped.
struct ByteBounds {
  MOTE_INLINE ByteBounds(const Bounds& b, DType type) : ByteBounds(b, type == DType::u8 ? 128 : 0) {}
  ByteVector zero, lo, hi, flip;

 private:
  MOTE_INLINE ByteBounds(const Bounds& b, int32_t less)
      : zero(all_shorts(wrapping_sub(b.zero, less))),
        lo(all_bytes(wrapping_sub(b.lo + b.zero, less))),
        hi(all_bytes(wrapping_sub(b.hi + b.zero, less))),
        flip(all_bytes(less)) {}
};

// Four vectors as bytes within the bounds, lane by lane.
MOTE_INLINE ByteVector join(const VI* v, const ByteBounds& b) {
  return flipped(bytes_within(shorts_of(v[0], v[1], b.zero), shorts_of(v[2], v[3], b.zero), b.lo, b.hi), b.flip);
}

// Part `Part` of as many as fill a vector, the first `count` of its bytes.
#if defined(__AVX512BW__)
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  // Stores with a mask take longer.
  const bool all = count >= Bytes;
  const uint64_t mask = (uint64_t{1} << (all ? 0 : count)) - 1;
  if constexpr (Bytes == 32) {
    const __m256i bytes = _mm512_extracti64x4_epi64(v, Part);
    if (all) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    else _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), bytes);
  } else {
    const __m128i bytes = _mm512_extracti32x4_epi32(v, Part);
    if (all) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    else _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), bytes);
  }
}
#else
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  static_assert(Bytes == 16);
  const __m128i bytes = _mm256_extracti128_si256(v, Part);
  if (count >= Bytes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  alignas(16) uint8_t some[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(some), bytes);
  copy_exactly(to, some, count);
}
#endif

template <int V>
MOTE_INLINE void store_bytes(const VI* v, const ByteBounds& b, int32_t count, uint8_t* to) {
  VI four[4];
  unroll<4>([&](auto i) MOTE_LAMBDA { four[i] = v[i < V ? i : V - 1]; });
  store_some(in_order(join(four, b)), count, to);
}
template <int V>
MOTE_INLINE void store_rows(const VI* v, const ByteBounds& b, int32_t count, int32_t rows, uint8_t* const* to, int32_t at) {
  const ByteVector bytes = in_order(join(v, b));
  unroll<4 / V>([&](auto r) MOTE_LAMBDA {
    if (r == 0 || r < rows) store_part<kIntLanes * V, r>(bytes, count, to[r] + at);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME
