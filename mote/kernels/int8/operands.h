#pragma once

// Small integer operands: zero points, multipliers, clamps.

#include "mote/kernels/int8/lanes.h"
#include "mote/ops/common/quant.h"

namespace mote::kernels::MOTE_ISA_NAME {

// ops::int_range for the types at hand, always inlined: a copy with this instruction set must not be shared with portable code.
MOTE_INLINE ops::IntRange range_of(DType t) {
  switch (t) {
    case DType::s8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::s16: return {-32768, 32767};
    default: return {ops::kNoClampLo, ops::kNoClampHi};
  }
}

// What an 8-bit or 16-bit result may be, less its zero point: adding that afterwards cannot overflow.
struct Bounds {
  int32_t lo, hi, zero;
  Bounds(int32_t clamp_lo, int32_t clamp_hi, int32_t zero_point, DType type) : zero(zero_point) {
    const ops::IntRange r = range_of(type);
    lo = static_cast<int32_t>(int64_t{clamp_lo > r.lo ? clamp_lo : r.lo} - zero);
    hi = static_cast<int32_t>(int64_t{clamp_hi < r.hi ? clamp_hi : r.hi} - zero);
  }
};

// A vector operand that has one element for all, or one for each.
class Each {
 public:
  Each() = default;
  Each(const OpContext& c, int input) {
    if (!c.has_input(input)) return;
    data_ = c.input(input).as<const uint8_t>();
    type_ = c.input(input).dtype();
    step_ = c.input(input).rank() == 0 || c.input(input).dim(0) == 1 ? 0 : 1;
  }
  bool given() const { return data_ != nullptr; }
  bool varies() const { return step_ != 0; }
  template <class T>
  MOTE_INLINE T at(int32_t i) const {
    return reinterpret_cast<const T*>(data_)[i * step_];
  }
  // `count` elements of 32 bits (at most a vector) from i on, the last one again in the lanes behind; 0 where none are given.
  MOTE_INLINE VI ints(int32_t i, int32_t count) const {
    if (data_ == nullptr) return hn::Zero(I32());
    if (step_ == 0) return set_ints(at<int32_t>(0));
    if (count >= kIntLanes) return load_ints(reinterpret_cast<const int32_t*>(data_) + i);
    Lanes<int32_t> some;
    for (int32_t k = 0; k < kIntLanes; ++k) some.v[k] = at<int32_t>(i + (k < count ? k : count - 1));
    return load_ints(some.v);
  }
  // An s8, u8 or s32, within the range of `type`.
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

}  // namespace mote::kernels::MOTE_ISA_NAME
