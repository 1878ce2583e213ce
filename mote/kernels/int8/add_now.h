#pragma once

#include <immintrin.h>

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// sum + x, at this place: compilers like to add up several products first, and then have too few registers for them.
MOTE_INLINE __m256i add_now(__m256i sum, __m256i x) {
  __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(x));
  return sum;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
