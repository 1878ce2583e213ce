#pragma once

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Sums go to the stage.
inline constexpr bool kTileEnds = false, kAnyReal = false;
struct TileEnd {
  template <class... A>
  explicit TileEnd(const A&...) {}
  const int32_t* base = nullptr;
};
template <int MR, int NV, class R>
MOTE_INLINE void finish(const TileEnd&, int32_t, int32_t, const R (&)[MR][NV]) {}

}  // namespace mote::kernels::MOTE_ISA_NAME
