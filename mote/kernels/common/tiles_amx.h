#pragma once

#include <immintrin.h>

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// Configures the eight AMX tile registers of this thread as 16 rows of 64 bytes each, and releases them at the end of the scope.
class AmxScope {
 public:
  AmxScope() {
    struct alignas(64) {
      uint8_t palette = 1, start = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const config;
    _tile_loadconfig(&config);
  }
  ~AmxScope() { _tile_release(); }
  AmxScope(const AmxScope&) = delete;
  AmxScope& operator=(const AmxScope&) = delete;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
