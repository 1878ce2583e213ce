#pragma once

// The contract is in narrow.h. x86 packs within 128-bit lanes, so pack_to_bytes() leaves 4 bytes of the first vector, 4 of the second and
// so on in each lane; restore_lane_order() permutes them.

#include <immintrin.h>

#include "mote/kernels/int8/requantize/add.h"
#include "mote/kernels/int8/requantize/bytes.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

#if defined(__AVX512BW__)
using ByteVector = __m512i;
MOTE_INLINE VI round_half_even(VFI x) { return VI{_mm512_cvtps_epi32(x.raw)}; }
MOTE_INLINE ByteVector broadcast_s8(int32_t v) { return _mm512_set1_epi8(static_cast<char>(v)); }
MOTE_INLINE ByteVector broadcast_s16(int32_t v) { return _mm512_set1_epi16(static_cast<short>(v)); }
MOTE_INLINE ByteVector pack_s16(VI a, VI b, ByteVector add) { return _mm512_adds_epi16(_mm512_packs_epi32(a.raw, b.raw), add); }
MOTE_INLINE ByteVector pack_s8_and_clamp(ByteVector a, ByteVector b, ByteVector lo, ByteVector hi) {
  return _mm512_min_epi8(hi, _mm512_max_epi8(lo, _mm512_packs_epi16(a, b)));
}
MOTE_INLINE ByteVector restore_lane_order(ByteVector v) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}
MOTE_INLINE void store_partial(ByteVector v, int32_t count, void* to) {
  if (count >= 64) return _mm512_storeu_si512(to, v);
  _mm512_mask_storeu_epi8(to, (__mmask64{1} << count) - 1, v);
}
MOTE_INLINE ByteVector xor_bytes(ByteVector v, ByteVector by) { return _mm512_xor_si512(v, by); }
#else
using ByteVector = __m256i;
MOTE_INLINE VI round_half_even(VFI x) { return VI{_mm256_cvtps_epi32(x.raw)}; }
MOTE_INLINE ByteVector broadcast_s8(int32_t v) { return _mm256_set1_epi8(static_cast<char>(v)); }
MOTE_INLINE ByteVector broadcast_s16(int32_t v) { return _mm256_set1_epi16(static_cast<short>(v)); }
MOTE_INLINE ByteVector pack_s16(VI a, VI b, ByteVector add) { return _mm256_adds_epi16(_mm256_packs_epi32(a.raw, b.raw), add); }
MOTE_INLINE ByteVector pack_s8_and_clamp(ByteVector a, ByteVector b, ByteVector lo, ByteVector hi) {
  return _mm256_min_epi8(hi, _mm256_max_epi8(lo, _mm256_packs_epi16(a, b)));
}
MOTE_INLINE ByteVector restore_lane_order(ByteVector v) {
  return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
MOTE_INLINE ByteVector xor_bytes(ByteVector v, ByteVector by) { return _mm256_xor_si256(v, by); }
MOTE_INLINE void store_partial(ByteVector v, int32_t count, void* to) {
  uint8_t* out = static_cast<uint8_t*>(to);
  if (count >= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v);
  alignas(32) uint8_t buffer[32];
  _mm256_store_si256(reinterpret_cast<__m256i*>(buffer), v);
  if (count >= 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + count - 16), _mm_loadu_si128(reinterpret_cast<const __m128i*>(buffer + count - 16)));
  } else {
    copy_exactly(out, buffer, count);
  }
}
#endif
inline constexpr int kVectorsPerRow = kIntLanes == 16 ? 1 : 2;
inline constexpr int kByteLanes = static_cast<int>(sizeof(ByteVector));

// The zero point is added to s16 with saturation: what saturates there is outside of the clamp bounds anyway. u8 outputs are computed as s8
// less 128, and the sign bit is flipped at the end.
struct ByteClampRange {
  MOTE_INLINE ByteClampRange(const ClampRange& b, DType type) : ByteClampRange(b, type == DType::u8 ? 128 : 0) {}
  ByteVector zero, lo, hi, flip;

 private:
  MOTE_INLINE ByteClampRange(const ClampRange& b, int32_t offset)
      : zero(broadcast_s16(wrapping_sub(b.zero, offset))),
        lo(broadcast_s8(wrapping_sub(b.lo + b.zero, offset))),
        hi(broadcast_s8(wrapping_sub(b.hi + b.zero, offset))),
        flip(broadcast_s8(offset)) {}
};

// Four vectors as clamped bytes, in the order of the packing instructions.
MOTE_INLINE ByteVector pack_to_bytes(const VI* v, const ByteClampRange& b) {
  return xor_bytes(pack_s8_and_clamp(pack_s16(v[0], v[1], b.zero), pack_s16(v[2], v[3], b.zero), b.lo, b.hi), b.flip);
}

// Stores the first `count` bytes of part `Part`, one of those of Bytes bytes that make up a vector.
#if defined(__AVX512BW__)
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  // A masked store is slower, so full parts do without.
  const bool full = count >= Bytes;
  const uint64_t mask = (uint64_t{1} << (full ? 0 : count)) - 1;
  if constexpr (Bytes == 32) {
    const __m256i bytes = _mm512_extracti64x4_epi64(v, Part);
    if (full) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    else _mm256_mask_storeu_epi8(to, static_cast<__mmask32>(mask), bytes);
  } else {
    const __m128i bytes = _mm512_extracti32x4_epi32(v, Part);
    if (full) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    else _mm_mask_storeu_epi8(to, static_cast<__mmask16>(mask), bytes);
  }
}
#else
template <int Bytes, int Part>
MOTE_INLINE void store_part(ByteVector v, int32_t count, uint8_t* to) {
  static_assert(Bytes == 16);
  const __m128i bytes = _mm256_extracti128_si256(v, Part);
  if (count >= Bytes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  alignas(16) uint8_t buffer[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(buffer), bytes);
  copy_exactly(to, buffer, count);
}
#endif

template <int V>
MOTE_INLINE void store_bytes(const VI* v, const ByteClampRange& b, int32_t count, uint8_t* to) {
  VI vectors[4];
  unroll<4>([&](auto i) MOTE_LAMBDA { vectors[i] = v[i < V ? i : V - 1]; });
  store_partial(restore_lane_order(pack_to_bytes(vectors, b)), count, to);
}
template <int V>
MOTE_INLINE void store_rows(const VI* v, const ByteClampRange& b, int32_t count, int32_t rows, uint8_t* const* to, int32_t offset) {
  const ByteVector bytes = restore_lane_order(pack_to_bytes(v, b));
  unroll<4 / V>([&](auto r) MOTE_LAMBDA {
    if (r == 0 || r < rows) store_part<kIntLanes * V, r>(bytes, count, to[r] + offset);
  });
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
