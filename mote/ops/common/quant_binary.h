#pragma once

// Attributes and arithmetic of q_add and q_sub.

#include "mote/ops/common/elementwise.h"
#include "mote/ops/common/quant.h"

namespace mote::ops {

// Values are part of the program format.
// kSums: of q_conv's residual alone, which is added to the sums before they are scaled.
enum class QuantMode : uint32_t { kFixed = 0, kReal = 1, kShift = 2, kSums = 3 };

struct QuantBinaryAttrs {
  uint32_t mode = 0;
  int32_t a_zero = 0;
  int32_t b_zero = 0;
  int32_t y_zero = 0;
  int32_t left_shift = 0;
  int32_t a_multiplier = 0;
  int32_t a_shift = 0;
  int32_t b_multiplier = 0;
  int32_t b_shift = 0;
  int32_t y_multiplier = 0;
  int32_t y_shift = 0;
  float a_scale = 1;
  float b_scale = 1;
  float y_scale = 1;
  int32_t clamp_lo = kNoClampLo;
  int32_t clamp_hi = kNoClampHi;
};
inline constexpr auto kQuantBinaryFields = std::make_tuple(
    attr("mode", &QuantBinaryAttrs::mode,
         "0: multipliers and shifts (TFLite); 1: float scales (ONNX); 2: a_shift and b_shift alone (TFLite int16, scales powers of two)"),
    attr("a_zero", &QuantBinaryAttrs::a_zero, "zero point of a"), attr("b_zero", &QuantBinaryAttrs::b_zero, "zero point of b"),
    attr("y_zero", &QuantBinaryAttrs::y_zero, "zero point of y"),
    attr("left_shift", &QuantBinaryAttrs::left_shift, "mode 0: both operands are shifted left by this first"),
    attr("a_multiplier", &QuantBinaryAttrs::a_multiplier, "mode 0: scales a"),
    attr("a_shift", &QuantBinaryAttrs::a_shift, "modes 0 and 2: shift of a, not positive"),
    attr("b_multiplier", &QuantBinaryAttrs::b_multiplier, "mode 0: scales b"),
    attr("b_shift", &QuantBinaryAttrs::b_shift, "modes 0 and 2: shift of b, not positive"),
    attr("y_multiplier", &QuantBinaryAttrs::y_multiplier, "mode 0: scales the result"),
    attr("y_shift", &QuantBinaryAttrs::y_shift, "mode 0: shift of the result"),
    attr("a_scale", &QuantBinaryAttrs::a_scale, "mode 1: scale of a"), attr("b_scale", &QuantBinaryAttrs::b_scale, "mode 1: scale of b"),
    attr("y_scale", &QuantBinaryAttrs::y_scale, "mode 1: scale of y"), attr("clamp_lo", &QuantBinaryAttrs::clamp_lo, "least output value"),
    attr("clamp_hi", &QuantBinaryAttrs::clamp_hi, "greatest output value"));

inline Status check_quant_binary(const QuantBinaryAttrs& a, const InferContext& c, DType t) noexcept {
  if (a.mode > 2) return c.reject(Why::kAttribute, 2, a.mode);
  if (a.left_shift < 0 || a.left_shift > 30) return c.reject(Why::kAttribute, 30, a.left_shift);
  if (a.a_shift > 0 || a.a_shift < -31) return c.reject(Why::kAttribute, 0, a.a_shift);
  if (a.b_shift > 0 || a.b_shift < -31) return c.reject(Why::kAttribute, 0, a.b_shift);
  for (const int32_t zero : {a.a_zero, a.b_zero, a.y_zero}) MOTE_TRY(check_zero(c, zero, t));
  return check_clamp(c, a.clamp_lo, a.clamp_hi, t);
}

inline Status infer_quant_binary(const QuantBinaryAttrs& a, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(infer_binary(c, types));
  return check_quant_binary(a, c, c.in(0).dtype);
}

// a + Sign * b.
template <int Sign>
class QuantSum {
 public:
  explicit QuantSum(const QuantBinaryAttrs& a) : a_(a) {}

  template <class T>
  int32_t operator()(T x, T y) const {
    return of(x, y, dtype_of<T>);
  }
  // The same for elements of a type known when running.
  int32_t of(int32_t x, int32_t y, DType type) const {
    return clamp_to(value(x - a_.a_zero, y - a_.b_zero), clamp_range(a_.clamp_lo, a_.clamp_hi, type));
  }

 private:
  int64_t value(int32_t x, int32_t y) const {
    switch (static_cast<QuantMode>(a_.mode)) {
      case QuantMode::kReal: {
        const float p = static_cast<float>(x) * a_.a_scale, q = static_cast<float>(y) * a_.b_scale;
        return int64_t{round_to_s32((Sign > 0 ? p + q : p - q) / a_.y_scale)} + a_.y_zero;
      }
      case QuantMode::kShift:
        return int64_t{rounding_shift_right(x, -a_.a_shift)} + Sign * int64_t{rounding_shift_right(y, -a_.b_shift)} + a_.y_zero;
      case QuantMode::kSums:
      case QuantMode::kFixed: break;
    }
    const int32_t p = scale_by(wrapping_shift_left(x, a_.left_shift), a_.a_multiplier, a_.a_shift);
    const int32_t q = scale_by(wrapping_shift_left(y, a_.left_shift), a_.b_multiplier, a_.b_shift);
    return int64_t{scale_by(wrap_to_s32(int64_t{p} + Sign * int64_t{q}), a_.y_multiplier, a_.y_shift)} + a_.y_zero;
  }

  QuantBinaryAttrs a_;
};

}  // namespace mote::ops
