#pragma once

#include "mote/core/span.h"

namespace mote {

// SHA-256 (FIPS 180-4), fed in parts. Freestanding, so that a device can check a file by itself.
class Sha256 {
 public:
  void update(ConstBytes bytes) noexcept;
  void finish(uint8_t (&digest)[32]) noexcept;

 private:
  void block(const uint8_t* p) noexcept;

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint64_t total_ = 0;
  uint8_t pending_[64] = {};
};

}  // namespace mote
