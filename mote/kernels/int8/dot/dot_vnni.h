#pragma once

// VNNI: vpdpbusd multiplies u8 by s8 and adds four products to an accumulator. s8 values are encoded as x + 128. For MOTE_ISA_MADDUBS
// (dot_maddubs.h) the same operation takes three AVX2 instructions.

#include <immintrin.h>

#include "mote/kernels/int8/dot/add_in_order.h"
#include "mote/kernels/int8/dot/depthwise_weights_s8.h"
#include "mote/kernels/int8/dot/interleave.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

using Lhs = uint8_t;

#if defined(__AVX512VNNI__)
using Register = __m512i;
inline constexpr int kVectorOutputs = 16, kTileVectors = 2, kTileRows = 12;
MOTE_INLINE Register zero_register() { return _mm512_setzero_si512(); }
MOTE_INLINE Register load_register(const void* p) { return _mm512_loadu_si512(p); }
MOTE_INLINE void store_register(void* p, Register v) { _mm512_storeu_si512(p, v); }
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return _mm512_dpbusd_epi32(acc, x, w); }
MOTE_INLINE Register add(Register a, Register b) { return _mm512_add_epi32(a, b); }
MOTE_INLINE Register broadcast(const Lhs* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return _mm512_set1_epi32(v);
}

// Transposes four lanes of 16 bytes into K groups: dwords across the lanes, then bytes within them.
MOTE_INLINE void interleave_and_flip(__m128i a, __m128i b, __m128i c, __m128i d, uint8_t flip, Register* out) {
  __m512i v = _mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1);
  v = _mm512_inserti32x4(_mm512_inserti32x4(v, c, 2), d, 3);
  v = _mm512_xor_si512(v, _mm512_set1_epi8(static_cast<char>(flip)));
  const __m512i dwords = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  out[0] = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(dwords, v), bytes);
}
#else
using Register = __m256i;
inline constexpr int kVectorOutputs = 8, kTileVectors = 2;
MOTE_INLINE Register zero_register() { return _mm256_setzero_si256(); }
MOTE_INLINE Register load_register(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
MOTE_INLINE void store_register(void* p, Register v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
#if defined(MOTE_ISA_MADDUBS)
inline constexpr int kTileRows = 5;
MOTE_INLINE Register dot(Register acc, Register x, Register w) {
  return add_in_order(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), _mm256_set1_epi16(1)));
}
#else
inline constexpr int kTileRows = 6;
MOTE_INLINE Register dot(Register acc, Register x, Register w) { return _mm256_dpbusd_avx_epi32(acc, x, w); }
#endif
MOTE_INLINE Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
MOTE_INLINE Register broadcast(const Lhs* p) {
  int32_t v;
  __builtin_memcpy(&v, p, 4);
  return _mm256_set1_epi32(v);
}
MOTE_INLINE int32_t reduce_add(Register v) {
  const hn::CappedTag<int32_t, 8> d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Vec<decltype(d)>{v}));
}
MOTE_INLINE void interleave_and_flip(__m128i a, __m128i b, __m128i c, __m128i d, uint8_t flip, Register* out) {
  __m128i taps[4];
  interleave(a, b, c, d, taps);
  const __m256i v = _mm256_set1_epi8(static_cast<char>(flip));
  out[0] = _mm256_xor_si256(_mm256_set_m128i(taps[1], taps[0]), v);
  out[1] = _mm256_xor_si256(_mm256_set_m128i(taps[3], taps[2]), v);
}
#endif

MOTE_INLINE Register load_weights(const int8_t* w) { return load_register(w); }

template <int N>
MOTE_INLINE void store_accumulators(const Register* acc, int32_t* v) {
  unroll<N>([&](auto i) { store_register(v + i * kVectorOutputs, acc[i]); });
}

// AMX has signed LHS tiles, so s8 values need no encoding there.
#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // Clang up to 14 has the second name
inline constexpr bool kFlipsSignBit = false;
#else
inline constexpr bool kFlipsSignBit = true;
#endif

// Encodes an 8-bit value x as the LHS element x - offset(). The offset does not depend on the zero point.
class LhsEncoding {
 public:
  LhsEncoding(bool is_signed, int32_t /*zero*/) : sign_(is_signed ? 0x80 : 0), xor_mask_(kFlipsSignBit ? sign_ : 0) {}
  int32_t offset() const { return -int32_t{xor_mask_}; }
  // True when elements equal the input bytes, so that rows can be read in place.
  bool is_identity() const { return xor_mask_ == 0; }
  // The byte that is encoded as 0.
  uint8_t byte_for_zero() const { return xor_mask_; }

  // Encodes 64 values; with Sum returns the sum of the elements.
#if defined(__AVX512VNNI__)
  template <bool Sum>
  MOTE_INLINE int32_t convert(__m512i x, Lhs* out) const {
    const __m512i v = _mm512_xor_si512(x, _mm512_set1_epi8(static_cast<char>(xor_mask_)));
    store_register(out, v);
    if (!Sum) return 0;
    const uint8_t sum_flip = kFlipsSignBit ? 0 : sign_;
    const __m512i positive = _mm512_xor_si512(v, _mm512_set1_epi8(static_cast<char>(sum_flip)));
    const hn::CappedTag<int64_t, 8> d;
    const hn::Vec<decltype(d)> sums{_mm512_sad_epu8(positive, zero_register())};
    return static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d, sums))) - 64 * int32_t{sum_flip};
  }
#else
  template <bool Sum>
  MOTE_INLINE int32_t convert64(const uint8_t* x, Lhs* out) const {
    __m256i total = zero_register();
    unroll<2>([&](auto i) {
      const __m256i v = _mm256_xor_si256(load_register(x + i * 32), _mm256_set1_epi8(static_cast<char>(xor_mask_)));
      store_register(out + i * 32, v);
      if (Sum) total = add(total, _mm256_sad_epu8(v, zero_register()));
    });
    return Sum ? reduce_add(total) : 0;
  }
#endif

  // Interleaves 16 channels of four taps into K groups: 16 / kVectorOutputs registers.
  MOTE_INLINE void interleave_taps(__m128i a, __m128i b, __m128i c, __m128i d, Register* out) const {
    interleave_and_flip(a, b, c, d, xor_mask_, out);
  }

 private:
  uint8_t sign_, xor_mask_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
