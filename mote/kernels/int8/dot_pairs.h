#pragma once

// vpmaddubsw adds the products of two neighbours (u8 by s8) in 16 bits, and saturates. Weights that cannot make it do so are multiplied in
// half the time that the widened ones of dot_madd.h take; quantizers see to it (compiler/quant/pairs.h).

#include <immintrin.h>

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Positive neighbours add up to 128 at most, negative ones to -128 at least: 255 times that fits 16 bits. bytes: a multiple of 64.
inline bool pairs_fit(const int8_t* weights, int64_t bytes) {
  const __m256i zero = _mm256_setzero_si256(), ones = _mm256_set1_epi8(1);
  __m256i most = zero, least = zero;
  for (int64_t i = 0; i < bytes; i += 32) {
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + i));
    most = _mm256_max_epi16(most, _mm256_maddubs_epi16(ones, _mm256_max_epi8(w, zero)));
    least = _mm256_min_epi16(least, _mm256_maddubs_epi16(ones, _mm256_min_epi8(w, zero)));
  }
  const __m256i over =
      _mm256_or_si256(_mm256_cmpgt_epi16(most, _mm256_set1_epi16(128)), _mm256_cmpgt_epi16(_mm256_set1_epi16(-128), least));
  return _mm256_testz_si256(over, over) != 0;
}

inline constexpr bool kPairsAlone = true;

// Constants in panels of 16 outputs and fours of k.
inline bool suits(const Tensor& w) {
  if (w.data == nullptr || w.desc->storage != Storage::kConstant) return false;
  int64_t k = 1;
  for (int i = 1; i < w.desc->rank; ++i) k *= w.desc->dims[i];
  return pairs_fit(static_cast<const int8_t*>(w.data), (w.desc->dims[0] + 15) / 16 * ((k + 3) / 4) * 64);
}

}  // namespace mote::kernels::MOTE_ISA_NAME
