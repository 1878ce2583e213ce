#pragma once

#include <immintrin.h>

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Transposes 16 channels of four taps into K groups: out[i] holds channels 4 * i to 4 * i + 3, the four taps of each adjacent.
MOTE_INLINE void interleave(__m128i a, __m128i b, __m128i c, __m128i d, __m128i* out) {
  const __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d), ab2 = _mm_unpackhi_epi8(a, b), cd2 = _mm_unpackhi_epi8(c, d);
  out[0] = _mm_unpacklo_epi16(ab, cd);
  out[1] = _mm_unpackhi_epi16(ab, cd);
  out[2] = _mm_unpacklo_epi16(ab2, cd2);
  out[3] = _mm_unpackhi_epi16(ab2, cd2);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
