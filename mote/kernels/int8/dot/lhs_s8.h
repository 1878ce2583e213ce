#pragma once

#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// Encodes an 8-bit value x as the s8 LHS element x - offset(): s8 as it is, u8 minus 128.
class SignedLhsEncoding {
 public:
  explicit SignedLhsEncoding(bool is_signed) : xor_mask_(is_signed ? 0 : 0x80) {}
  int32_t offset() const { return xor_mask_; }
  // The byte that is encoded as 0.
  uint8_t byte_for_zero() const { return xor_mask_; }
  // True when elements equal the input bytes, so that rows can be read in place.
  bool is_identity() const { return xor_mask_ == 0; }

 protected:
  uint8_t xor_mask_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
