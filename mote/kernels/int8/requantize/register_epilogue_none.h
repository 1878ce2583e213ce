#pragma once

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// For ISA variants whose micro-kernels store accumulators, which RequantEpilogue reads.
inline constexpr bool kHasRegisterEpilogue = false, kAnyRealMultiplier = false;
struct RegisterEpilogue {
  template <class... A>
  explicit RegisterEpilogue(const A&...) {}
  const int32_t* base = nullptr;
};
template <int MR, int NV, class R>
MOTE_INLINE void requantize_and_store(const RegisterEpilogue&, int32_t, int32_t, const R (&)[MR][NV]) {}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
