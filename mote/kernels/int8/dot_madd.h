#pragma once

// vpmaddwd: s16 by s16, two products added. Weights are widened on the way in; the left side is packed as s16 with its zero point taken
// off. A register of sums holds two partial sums for each output.

#include <immintrin.h>

#include "mote/kernels/int8/interleave.h"

namespace mote::kernels::MOTE_ISA_NAME {

using Left = int16_t;

#if defined(__AVX512BW__)
using Register = __m512i;
inline constexpr int kVectorOutputs = 8, kTileVectors = 2, kTileRows = 12;
MOTE_INLINE Register zero_register() { return _mm512_setzero_si512(); }
MOTE_INLINE Register load_register(const void* p) { return _mm512_loadu_si512(p); }
MOTE_INLINE void store_register(void* p, Register v) { _mm512_storeu_si512(p, v); }
MOTE_INLINE Register load_weights(const int8_t* w) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w))); }
MOTE_INLINE Register dot(Register sum, Register x, Register w) { return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w)); }
MOTE_INLINE Register broadcast(const Left* p) {
  long long v;
  __builtin_memcpy(&v, p, 8);
  return _mm512_set1_epi64(v);
}
template <int N>
MOTE_INLINE void store_sums(const Register* sums, int32_t* v) {
  unroll<N>([&](auto i) {
    const __m512i s = _mm512_add_epi32(sums[i], _mm512_srli_epi64(sums[i], 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(v + i * 8), _mm512_cvtepi64_epi32(s));
  });
}
MOTE_INLINE Register widen(__m256i v, bool is_signed) { return is_signed ? _mm512_cvtepi8_epi16(v) : _mm512_cvtepu8_epi16(v); }
MOTE_INLINE Register subtract(Register a, int32_t b) { return _mm512_sub_epi16(a, _mm512_set1_epi16(static_cast<short>(b))); }
MOTE_INLINE Register pair_sums(Register v) { return _mm512_madd_epi16(v, _mm512_set1_epi16(1)); }
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
MOTE_INLINE Register dot(Register sum, Register x, Register w) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); }
MOTE_INLINE Register broadcast(const Left* p) {
  long long v;
  __builtin_memcpy(&v, p, 8);
  return _mm256_set1_epi64x(v);
}
template <int N>
MOTE_INLINE void store_sums(const Register* sums, int32_t* v) {
  static_assert(N % 2 == 0, "outputs come in eights");
  unroll<N / 2>([&](auto i) {
    const __m256i s = _mm256_hadd_epi32(sums[2 * i], sums[2 * i + 1]);
    store_register(v + i * 8, _mm256_permute4x64_epi64(s, 0xd8));
  });
}
MOTE_INLINE Register widen(__m128i v, bool is_signed) { return is_signed ? _mm256_cvtepi8_epi16(v) : _mm256_cvtepu8_epi16(v); }
MOTE_INLINE Register subtract(Register a, int32_t b) { return _mm256_sub_epi16(a, _mm256_set1_epi16(static_cast<short>(b))); }
MOTE_INLINE Register pair_sums(Register v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }
MOTE_INLINE Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
MOTE_INLINE void widen_taps(const __m128i* taps, bool is_signed, Register* out) {
  unroll<4>([&](auto i) { out[i] = widen(taps[i], is_signed); });
}
#endif

// Weights less their zero point, 16 channels of four taps, as kColumnBytes bytes. Nothing is left over for `rest`.
inline constexpr int kColumnBytes = 128;
inline bool pack_column(const int16_t* taps, uint8_t* main, uint8_t* /*rest*/) {
  __builtin_memcpy(main, taps, kColumnBytes);
  return false;
}

// How a value x of 8 bits becomes an element of the left side: x - offset(), where the offset is the zero point.
class LeftForm {
 public:
  LeftForm(bool is_signed, int32_t zero) : signed_(is_signed), zero_(zero) {}
  int32_t offset() const { return zero_; }
  // Elements are the values' bytes as they are.
  bool same() const { return false; }
  // The byte that becomes 0.
  uint8_t blank() const { return static_cast<uint8_t>(zero_); }

  // 64 values; returns the sum of the elements with `Sum`.
#if defined(__AVX512BW__)
  template <bool Sum>
  MOTE_INLINE int32_t convert(__m512i x, Left* out) const {
    const Register low = subtract(widen(_mm512_castsi512_si256(x), signed_), zero_);
    const Register high = subtract(widen(_mm512_extracti64x4_epi64(x, 1), signed_), zero_);
    store_register(out, low);
    store_register(out + 32, high);
    return Sum ? _mm512_reduce_add_epi32(add(pair_sums(low), pair_sums(high))) : 0;
  }
#else
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Left* out) const {
    Register total = zero_register();
    unroll<4>([&](auto i) {
      const Register v = subtract(widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i * 16)), signed_), zero_);
      store_register(out + i * 16, v);
      if (Sum) total = add(total, pair_sums(v));
    });
    const hn::CappedTag<int32_t, 8> d;
    return Sum ? hn::GetLane(hn::SumOfLanes(d, hn::Vec<decltype(d)>{total})) : 0;
  }
#endif

  // 16 channels of four taps, for 16 / kVectorOutputs registers of taps' weights.
  MOTE_INLINE void columns(__m128i a, __m128i b, __m128i c, __m128i d, Register* out) const {
    __m128i taps[4];
    interleave(a, b, c, d, taps);
    widen_taps(taps, signed_, out);
    unroll<16 / kVectorOutputs>([&](auto i) { out[i] = subtract(out[i], zero_); });
  }

 private:
  bool signed_;
  int32_t zero_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
