#pragma once

// Weights of depthwise convolutions where the processor multiplies 8-bit weights.

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Weights less their zero point, 16 channels of four taps, as kColumnBytes bytes. What does not fit 8 bits goes into `rest`; false:
// nothing.
inline constexpr int kColumnBytes = 64;
inline bool pack_column(const int16_t* taps, uint8_t* main, uint8_t* rest) {
  int32_t more = 0;
  for (int i = 0; i < 64; ++i) {
    const int32_t v = taps[i], near = v < -128 ? -128 : v > 127 ? 127 : v;
    main[i] = static_cast<uint8_t>(near);
    rest[i] = static_cast<uint8_t>(v - near);
    more |= v - near;
  }
  return more != 0;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
