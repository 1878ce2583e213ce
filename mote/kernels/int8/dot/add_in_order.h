#pragma once

#include <immintrin.h>

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// acc + x, not reassociated: compilers would sum several products before they add them to the accumulator, and spill registers.
MOTE_INLINE __m256i add_in_order(__m256i acc, __m256i x) {
  __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(x));
  return acc;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
