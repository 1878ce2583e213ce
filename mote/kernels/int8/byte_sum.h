#pragma once

// q_add of bytes on vectors, for the attributes of nearly all models: what sum.h computes, in fewer instructions.

#include "mote/kernels/int8/narrow.h"

namespace mote::kernels::MOTE_ISA_NAME {

// a + b of bytes, for most attributes and quicker: neither zero point nor bounds of the sum are applied.
template <bool Real>
class ByteSum;

MOTE_INLINE bool are_bytes(const ops::QuantBinaryAttrs& a) {
  const auto is_byte = [](int32_t v) { return v >= -128 && v <= 255; };
  return is_byte(a.a_zero) && is_byte(a.b_zero) && is_byte(a.y_zero);
}

template <>
class ByteSum<false> {
 public:
  static bool can(const ops::QuantBinaryAttrs& a) {
    return a.mode == static_cast<uint32_t>(ops::QuantMode::kFixed) && are_bytes(a) &&
           NineBitScale::can(a.a_multiplier, a.a_shift, a.left_shift) && NineBitScale::can(a.b_multiplier, a.b_shift, a.left_shift) &&
           Factor::is_simple(a.y_multiplier, a.y_shift);
  }
  // a comes less `zero`, b as it is.
  MOTE_INLINE ByteSum(const ops::QuantBinaryAttrs& a, int32_t zero)
      : a_(a.a_multiplier, a.a_shift, a.left_shift),
        b_(a.b_multiplier, a.b_shift, a.left_shift),
        y_(set_ints(a.y_multiplier), set_ints(-a.y_shift - 1)),
        a_add_(set_ints(zero - a.a_zero)),
        b_add_(set_ints(-a.b_zero)) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return y_(hn::Add(a_(hn::Add(a, a_add_)), b_(hn::Add(b, b_add_)))); }

 private:
  NineBitScale a_, b_;
  SmallScale<true> y_;
  VI a_add_, b_add_;
};

template <>
class ByteSum<true> {
 public:
  static bool can(const ops::QuantBinaryAttrs& a) {
    const auto size = [](float v) { return v < 0 ? -v : v; };
    return a.mode == static_cast<uint32_t>(ops::QuantMode::kReal) && are_bytes(a) && Divisor::can_be_quick(a.y_scale) &&
           255 * (size(a.a_scale) + size(a.b_scale)) < Divisor::kLarge * size(a.y_scale);
  }
  MOTE_INLINE ByteSum(const ops::QuantBinaryAttrs& a, int32_t zero)
      : a_(hn::Set(FloatOfInts(), a.a_scale)),
        b_(hn::Set(FloatOfInts(), a.b_scale)),
        y_(a.y_scale),
        a_add_(set_ints(zero - a.a_zero)),
        b_add_(set_ints(-a.b_zero)) {}
  MOTE_INLINE VI operator()(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, hn::Add(a, a_add_)), a_), q = hn::Mul(hn::ConvertTo(d, hn::Add(b, b_add_)), b_);
    return nearest_small(y_.quick(hn::Add(p, q)));
  }

 private:
  VFI a_, b_;
  Divisor y_;
  VI a_add_, b_add_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
