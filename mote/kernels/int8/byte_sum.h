#pragma once

// q_add of bytes on vectors, for the attributes of nearly all models: what sum.h computes, in fewer instructions.

#include "mote/kernels/int8/scaled.h"

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
    return a.mode == static_cast<uint32_t>(ops::QuantMode::kFixed) && are_bytes(a) && Widen::can(a.a_multiplier, a.a_shift, a.left_shift) &&
           Widen::can(a.b_multiplier, a.b_shift, a.left_shift) && Factor::is_simple(a.y_multiplier, a.y_shift);
  }
  // a comes less `zero`, b as it is.
  MOTE_INLINE ByteSum(const ops::QuantBinaryAttrs& a, int32_t zero)
      : a_(a.a_multiplier, a.a_shift, a.left_shift, false),
        b_(a.b_multiplier, a.b_shift, a.left_shift, false),
        y_(a.y_multiplier, a.y_shift),
        a_add_(set_ints(zero - a.a_zero)),
        b_add_(set_ints(-a.b_zero)) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return y_(hn::Add(a_(hn::Add(a, a_add_)), b_(hn::Add(b, b_add_)))); }

 private:
  Widen a_, b_;
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

// What ByteSum<false> computes, in floats: right wherever the nearest whole number does not hang on what they leave out, which right()
// tells.
class NearSum {
 public:
  // a and b as ByteSum has them.
  MOTE_INLINE NearSum(const ops::QuantBinaryAttrs& a, int32_t zero) {
    const FloatOfInts d;
    const float y = scale_of(a.y_multiplier, a.y_shift), left = static_cast<float>(1 << a.left_shift) * y;
    const float p = scale_of(a.a_multiplier, a.a_shift) * left, q = scale_of(a.b_multiplier, a.b_shift) * left;
    a_ = hn::Set(d, p), b_ = hn::Set(d, q);
    add_ = hn::Set(d, static_cast<float>(zero - a.a_zero) * p - static_cast<float>(a.b_zero) * q);
    // Numbers up to 511 times p and q, with a few roundings of 2^-24 each; the operands and the sum itself have been rounded, too.
    const float error = 512 * (p + q) * 0x1p-20f + 3 * y;
    limit_ = hn::Set(d, error < 0.25f ? 0.5f - error : 0.0f);
  }
  MOTE_INLINE VFI operator()(VI a, VI b) const {
    const FloatOfInts d;
    return hn::MulAdd(hn::ConvertTo(d, a), a_, hn::MulAdd(hn::ConvertTo(d, b), b_, add_));
  }
  // True where none of the four is too close to the middle between two whole numbers.
  MOTE_INLINE bool right(const VFI* z) const {
#if defined(__AVX512DQ__)
    const auto off = [](VFI x) MOTE_LAMBDA { return _mm512_reduce_ps(x.raw, 0); };
    constexpr int kLargerSize = 0x3 | 0x8;
    const VFI most{_mm512_range_ps(_mm512_range_ps(off(z[0]), off(z[1]), kLargerSize), _mm512_range_ps(off(z[2]), off(z[3]), kLargerSize),
                                   kLargerSize)};
#else
    const auto off = [](VFI x) MOTE_LAMBDA { return hn::Abs(hn::Sub(x, hn::Round(x))); };
    const VFI most = hn::Max(hn::Max(off(z[0]), off(z[1])), hn::Max(off(z[2]), off(z[3])));
#endif
    return hn::AllTrue(FloatOfInts(), hn::Lt(most, limit_));
  }

 private:
  // multiplier / 2^31 * 2^shift, shift from -31 to 0.
  static MOTE_INLINE float scale_of(int32_t multiplier, int32_t shift) {
    const int32_t bits = (127 - 31 + shift) << 23;
    float power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return static_cast<float>(multiplier) * power;
  }
  VFI a_, b_, add_, limit_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
