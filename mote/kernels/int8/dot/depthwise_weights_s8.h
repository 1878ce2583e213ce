#pragma once

// Packing of depthwise weights for ISA variants that multiply s8 weights.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Packs weights minus their zero point, 16 channels of four taps. The difference may need 9 bits: `main` gets it saturated to s8 and `rest`
// the remainder, which a second dot product adds. Returns true when `rest` has a non-zero element.
inline constexpr int kTapGroupBytes = 64;
inline bool pack_tap_group(const int16_t* taps, uint8_t* main, uint8_t* rest) {
  int32_t any_rest = 0;
  for (int i = 0; i < 64; ++i) {
    const int32_t v = taps[i], saturated = v < -128 ? -128 : v > 127 ? 127 : v;
    main[i] = static_cast<uint8_t>(saturated);
    rest[i] = static_cast<uint8_t>(v - saturated);
    any_rest |= v - saturated;
  }
  return any_rest != 0;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
