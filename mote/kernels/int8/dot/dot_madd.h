#pragma once

// AVX2 without VNNI: vpmaddwd multiplies s16 by s16 and adds pairs of products. Weights are widened when they are loaded; the LHS is packed
// as s16 with its zero point subtracted. An output has two partial accumulators, which store_accumulators adds.

#include <immintrin.h>

#include "mote/kernels/int8/dot/add_in_order.h"
#include "mote/kernels/int8/dot/interleave.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Lhs = int16_t;
using Bytes16 = __m128i;

#if defined(__AVX512BW__)
using Register = __m512i;
inline constexpr int kVectorOutputs = 8, kTileVectors = 2, kTileRows = 12;
MOTE_INLINE Register zero_register() { return _mm512_setzero_si512(); }
MOTE_INLINE Register load_register(const void* p) { return _mm512_loadu_si512(p); }
MOTE_INLINE void store_register(void* p, Register v) { _mm512_storeu_si512(p, v); }
MOTE_INLINE Register load_weights(const int8_t* w) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))); }
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return _mm512_add_epi32(acc, _mm512_madd_epi16(x, w)); }
MOTE_INLINE Register broadcast(const Lhs* p) {
  long long v;
  __builtin_memcpy(&v, p, 8);
  return _mm512_set1_epi64(v);
}
template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  unroll<N>([&](auto i) {
    const __m512i s = _mm512_add_epi32(acc[i], _mm512_srli_epi64(acc[i], 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(v + i * 8), _mm512_cvtepi64_epi32(s));
  });
}
MOTE_INLINE Register widen(__m256i v, bool is_signed) { return is_signed ? _mm512_cvtepi8_epi16(v) : _mm512_cvtepu8_epi16(v); }
MOTE_INLINE Register subtract_s16(Register a, int32_t b) { return _mm512_sub_epi16(a, _mm512_set1_epi16(static_cast<short>(b))); }
MOTE_INLINE Register add_pairs(Register v) { return _mm512_madd_epi16(v, _mm512_set1_epi16(1)); }
MOTE_INLINE Register add(Register a, Register b) { return _mm512_add_epi32(a, b); }
MOTE_INLINE void widen_taps(const __m128i* taps, bool is_signed, Register* out) {
  unroll<2>([&](auto i) { out[i] = widen(_mm256_set_m128i(taps[2 * i + 1], taps[2 * i]), is_signed); });
}
#else
using Register = __m256i;
inline constexpr int kVectorOutputs = 4, kTileVectors = 2, kTileRows = 6;
MOTE_INLINE Register zero_register() { return _mm256_setzero_si256(); }
MOTE_INLINE Register load_register(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
MOTE_INLINE void store_register(void* p, Register v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
MOTE_INLINE Register load_weights(const int8_t* w) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w))); }
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return add_in_order(acc, _mm256_madd_epi16(x, w)); }
MOTE_INLINE Register broadcast(const Lhs* p) {
  long long v;
  __builtin_memcpy(&v, p, 8);
  return _mm256_set1_epi64x(v);
}
template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  static_assert(N % 2 == 0, "two registers hold eight outputs");
  unroll<N / 2>([&](auto i) {
    const __m256i s = _mm256_hadd_epi32(acc[2 * i], acc[2 * i + 1]);
    store_register(v + i * 8, _mm256_permute4x64_epi64(s, 0xd8));
  });
}
MOTE_INLINE Bytes16 load_bytes16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
// 16 bytes as s16.
MOTE_INLINE void widen_bytes16(Bytes16 v, bool is_signed, Register* out) {
  out[0] = is_signed ? _mm256_cvtepi8_epi16(v) : _mm256_cvtepu8_epi16(v);
}
MOTE_INLINE Register subtract_s16(Register a, int32_t b) { return _mm256_sub_epi16(a, _mm256_set1_epi16(static_cast<short>(b))); }
MOTE_INLINE Register add_pairs(Register v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }
MOTE_INLINE Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
MOTE_INLINE void widen_taps(const __m128i* taps, bool is_signed, Register* out) {
  unroll<4>([&](auto i) MOTE_LAMBDA { widen_bytes16(taps[i], is_signed, out + i); });
}
#endif

}  // namespace mote::kernels::MOTE_ISA_NAME::int8

#include "mote/kernels/int8/dot/lhs_s16.h"
