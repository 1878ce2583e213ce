#pragma once

// Scalar and per-channel integer operands: zero points, multipliers, clamp bounds.

#include "mote/kernels/int8/requantize/lanes.h"
#include "mote/ops/common/quant.h"
#include "variant.h"

// An ISA variant may share the epilogue with the one it extends (MOTE_ISA_EPILOGUE of variant.h). What both variants compile is always
// inlined, so that the linker cannot merge their code.
namespace mote::kernels {
namespace MOTE_ISA_EPILOGUE::int8 {}
namespace MOTE_ISA_NAME::int8 {
using namespace MOTE_ISA_EPILOGUE::int8;
}
}  // namespace mote::kernels

namespace mote::kernels::MOTE_ISA_EPILOGUE::int8 {

// ops::int_range for 8- and 16-bit types, always inlined: an out-of-line copy compiled for this ISA could be linked into portable code.
MOTE_INLINE ops::IntRange range_of(DType t) {
  switch (t) {
    case DType::s8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::s16: return {-32768, 32767};
    default: return {ops::kNoClampLo, ops::kNoClampHi};
  }
}

// Clamp bounds of a quantized output less its zero point, so that adding the zero point after clamping cannot overflow.
struct ClampRange {
  int32_t lo, hi, zero;
  MOTE_INLINE ClampRange(int32_t clamp_lo, int32_t clamp_hi, int32_t zero_point, DType type) : zero(zero_point) {
    const ops::IntRange r = range_of(type);
    lo = static_cast<int32_t>(int64_t{clamp_lo > r.lo ? clamp_lo : r.lo} - zero);
    hi = static_cast<int32_t>(int64_t{clamp_hi < r.hi ? clamp_hi : r.hi} - zero);
  }
};

// A broadcast operand: one element for all outputs, or one for each.
class BroadcastOperand {
 public:
  BroadcastOperand() = default;
  MOTE_INLINE BroadcastOperand(const OpContext& c, int input) {
    if (!c.has_input(input)) return;
    data_ = c.input(input).as<const uint8_t>();
    type_ = c.input(input).dtype();
    step_ = c.input(input).rank() == 0 || c.input(input).dim(0) == 1 ? 0 : 1;
  }
  MOTE_INLINE bool given() const { return data_ != nullptr; }
  MOTE_INLINE bool varies() const { return step_ != 0; }
  template <class T>
  MOTE_INLINE const T& at(int32_t i) const {
    return reinterpret_cast<const T*>(data_)[i * step_];
  }
  // Reads an s8, u8 or s32 element and clamps it to the range of `type`.
  MOTE_INLINE int32_t zero_point(int32_t i, DType type) const {
    const int32_t v = type_ == DType::s8 ? at<int8_t>(i) : type_ == DType::u8 ? at<uint8_t>(i) : at<int32_t>(i);
    const ops::IntRange r = range_of(type);
    return v < r.lo ? r.lo : v > r.hi ? r.hi : v;
  }

 private:
  const uint8_t* data_ = nullptr;
  DType type_ = DType::kNone;
  int32_t step_ = 0;
};

MOTE_INLINE int32_t wrapping_mul(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b)); }
MOTE_INLINE int32_t wrapping_add(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
MOTE_INLINE int32_t wrapping_sub(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)); }

}  // namespace mote::kernels::MOTE_ISA_EPILOGUE::int8
