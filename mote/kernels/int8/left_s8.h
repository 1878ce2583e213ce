#pragma once

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// How a value x of 8 bits becomes an s8 of the left side: x - offset().
class SignedLeft {
 public:
  explicit SignedLeft(bool is_signed) : flip_(is_signed ? 0 : 0x80) {}
  int32_t offset() const { return flip_; }
  // The byte that becomes 0.
  uint8_t blank() const { return flip_; }
  // Values are elements as they are.
  bool same() const { return flip_ == 0; }

 protected:
  uint8_t flip_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
