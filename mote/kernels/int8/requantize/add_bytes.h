#pragma once

// q_add of 8-bit operands on vectors, for the attributes of nearly all models: the bits of add.h in fewer instructions. Results are not
// clamped and come without the output's zero point; store_bytes() does both.

#include "mote/kernels/int8/requantize/scaled_difference.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

MOTE_INLINE bool has_byte_zero_points(const ops::QuantBinaryAttrs& a) {
  const auto is_byte = [](int32_t v) { return v >= -128 && v <= 255; };
  return is_byte(a.a_zero) && is_byte(a.b_zero) && is_byte(a.y_zero);
}

class AddBytesFixedPoint {
 public:
  static bool supports(const ops::QuantBinaryAttrs& a) {
    return a.mode == static_cast<uint32_t>(ops::QuantMode::kFixed) && has_byte_zero_points(a) &&
           ScaledDifference::supports(a.a_multiplier, a.a_shift, a.left_shift) &&
           ScaledDifference::supports(a.b_multiplier, a.b_shift, a.left_shift) &&
           FixedPointScale::right_shift_only(a.y_multiplier, a.y_shift);
  }
  // zero: what the caller has already subtracted from a (the output's zero point of the convolution in front); b has its own zero point.
  MOTE_INLINE AddBytesFixedPoint(const ops::QuantBinaryAttrs& a, int32_t zero)
      : a_(a.a_multiplier, a.a_shift, a.left_shift, false),
        b_(a.b_multiplier, a.b_shift, a.left_shift, false),
        y_(a.y_multiplier, a.y_shift),
        a_offset_(set_ints(zero - a.a_zero)),
        b_offset_(set_ints(-a.b_zero)) {}
  MOTE_INLINE VI operator()(VI a, VI b) const { return y_(hn::Add(a_(hn::Add(a, a_offset_)), b_(hn::Add(b, b_offset_)))); }

 private:
  ScaledDifference a_, b_;
  FastFixedPointScale<true> y_;
  VI a_offset_, b_offset_;
};

class AddBytesReal {
 public:
  static bool supports(const ops::QuantBinaryAttrs& a) {
    const auto magnitude = [](float v) { return v < 0 ? -v : v; };
    return a.mode == static_cast<uint32_t>(ops::QuantMode::kReal) && has_byte_zero_points(a) && Divisor::can_use_reciprocal(a.y_scale) &&
           255 * (magnitude(a.a_scale) + magnitude(a.b_scale)) < Divisor::kMaxQuotient * magnitude(a.y_scale);
  }
  MOTE_INLINE AddBytesReal(const ops::QuantBinaryAttrs& a, int32_t zero)
      : a_(hn::Set(FloatOfInts(), a.a_scale)),
        b_(hn::Set(FloatOfInts(), a.b_scale)),
        y_(a.y_scale),
        a_offset_(set_ints(zero - a.a_zero)),
        b_offset_(set_ints(-a.b_zero)) {}
  MOTE_INLINE VI operator()(VI a, VI b) const {
    const FloatOfInts d;
    const VFI p = hn::Mul(hn::ConvertTo(d, hn::Add(a, a_offset_)), a_), q = hn::Mul(hn::ConvertTo(d, hn::Add(b, b_offset_)), b_);
    return round_half_even(y_.divide_in_range(hn::Add(p, q)));
  }

 private:
  VFI a_, b_;
  Divisor y_;
  VI a_offset_, b_offset_;
};

// An approximation of AddBytesFixedPoint in f32: its rounded result is the exact one wherever rounding_is_certain(); elsewhere the caller
// computes AddBytesFixedPoint.
class AddBytesInFloat {
 public:
  // Operands as AddBytesFixedPoint takes them.
  MOTE_INLINE AddBytesInFloat(const ops::QuantBinaryAttrs& a, int32_t zero) {
    const FloatOfInts d;
    const float y = scale_as_float(a.y_multiplier, a.y_shift), sum_scale = static_cast<float>(1 << a.left_shift) * y;
    const float a_scale = scale_as_float(a.a_multiplier, a.a_shift) * sum_scale,
                b_scale = scale_as_float(a.b_multiplier, a.b_shift) * sum_scale;
    a_ = hn::Set(d, a_scale), b_ = hn::Set(d, b_scale);
    offset_ = hn::Set(d, static_cast<float>(zero - a.a_zero) * a_scale - static_cast<float>(a.b_zero) * b_scale);
    // Operands are below 512 in magnitude, and f32 arithmetic adds a few rounding errors of 2^-24 each; the fixed-point result that is
    // approximated has rounded its operands and its sum, which the term of y covers.
    const float error = 512 * (a_scale + b_scale) * 0x1p-20f + 3 * y;
    max_distance_ = hn::Set(d, error < 0.25f ? 0.5f - error : 0.0f);
  }
  MOTE_INLINE VFI operator()(VI a, VI b) const {
    const FloatOfInts d;
    return hn::MulAdd(hn::ConvertTo(d, a), a_, hn::MulAdd(hn::ConvertTo(d, b), b_, offset_));
  }
  // True where all lanes of the four vectors are farther than the error bound from a tie, so that rounding them gives the exact result.
  MOTE_INLINE bool rounding_is_certain(const VFI* z) const {
#if defined(__AVX512DQ__)
    const auto distance_to_integer = [](VFI x) MOTE_LAMBDA { return _mm512_reduce_ps(x.raw, 0); };
    constexpr int kLargerMagnitude = 0x3 | 0x8;
    const VFI max_distance{_mm512_range_ps(_mm512_range_ps(distance_to_integer(z[0]), distance_to_integer(z[1]), kLargerMagnitude),
                                           _mm512_range_ps(distance_to_integer(z[2]), distance_to_integer(z[3]), kLargerMagnitude),
                                           kLargerMagnitude)};
#else
    const auto distance_to_integer = [](VFI x) MOTE_LAMBDA { return hn::Abs(hn::Sub(x, hn::Round(x))); };
    const VFI max_distance = hn::Max(hn::Max(distance_to_integer(z[0]), distance_to_integer(z[1])),
                                     hn::Max(distance_to_integer(z[2]), distance_to_integer(z[3])));
#endif
    return hn::AllTrue(FloatOfInts(), hn::Lt(max_distance, max_distance_));
  }

 private:
  // multiplier / 2^31 * 2^shift, shift from -31 to 0.
  static MOTE_INLINE float scale_as_float(int32_t multiplier, int32_t shift) {
    const int32_t bits = (127 - 31 + shift) << 23;
    float power;
    __builtin_memcpy(&power, &bits, sizeof power);
    return static_cast<float>(multiplier) * power;
  }
  VFI a_, b_, offset_, max_distance_;
};

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
