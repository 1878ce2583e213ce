#pragma once

// The epilogue of quantized products (q_conv, q_conv_transpose, q_matmul): a 32-bit accumulator becomes an output element. Their operands:
//   0 x, 1 weights, 2 bias?, 3 multiplier?, 4 shift?, 5 x_zero?, 6 w_zero?, 7 x_scale?
// and their attributes: to, input_zero, weight_zero, output_zero, clamp_lo, clamp_hi, wide.
//   s8, u8, s16: multiplier s32 with shift: TFLite's fixed point; multiplier f32: float(sum) * multiplier, round half to even;
//                multiplier f64: double(sum) * multiplier, ties away from zero (TFLite's reference for fully connected layers)
//   s32:         the sum itself
//   f32:         float(sum) * (x_scale * multiplier) + bias

#include "mote/ops/common/quant_binary.h"
#include "mote/ops/common/weights.h"

namespace mote::ops {

constexpr int kEpilogueBias = 2, kEpilogueMultiplier = 3, kEpilogueShift = 4, kEpilogueXZero = 5, kEpilogueWZero = 6, kEpilogueXScale = 7;
constexpr int kEpilogueResidualFactor = 9;  // of q_conv
constexpr DTypeMask kEpilogueTypes = kQuant | mask_of(DType::s32) | mask_of(DType::f32);
inline constexpr char kEpilogueSignature[] = "x, weights, bias?, multiplier?, shift?, x_zero?, w_zero?, x_scale? -> y";

template <class A>
constexpr auto epilogue_fields() {
  return std::make_tuple(attr("to", &A::to, "element type of the output (s8, u8, s16, s32 for plain sums, f32); 0: that of x"),
                         attr("input_zero", &A::input_zero, "zero point of x, unless x_zero is given"),
                         attr("weight_zero", &A::weight_zero, "zero point of the weights, unless w_zero is given"),
                         attr("output_zero", &A::output_zero, "zero point of the output"),
                         attr("clamp_lo", &A::clamp_lo, "least output value"), attr("clamp_hi", &A::clamp_hi, "greatest output value"),
                         attr("wide", &A::wide, "1: sums have 64 bits and are scaled as TFLite does for them (16-bit activations)"));
}

template <class A>
DType epilogue_type(const A& a, DType x) {
  return a.to == 0 ? x : static_cast<DType>(a.to);
}

// Checks attributes and operands 2 to 7. rows: how many zero points and scales of x there may be (batches, or rows of a matrix).
template <class A>
Status check_epilogue(const A& a, const InferContext& c, int64_t channels, int64_t rows) noexcept {
  const DType x = c.in(0).dtype, w = c.in(1).dtype, y = epilogue_type(a, x);
  if (named_type(static_cast<uint32_t>(y), kEpilogueTypes) == DType::kNone) return c.reject(Why::kDType, kEpilogueTypes, a.to);
  if (a.wide > 1) return c.reject(Why::kAttribute, 1, a.wide);
  MOTE_TRY(check_zero(c, a.input_zero, x));
  MOTE_TRY(check_zero(c, a.weight_zero, w));
  const bool real = y == DType::f32;
  if (!real) {
    MOTE_TRY(check_zero(c, a.output_zero, y));
    MOTE_TRY(check_clamp(c, a.clamp_lo, a.clamp_hi, y));
  }
  const DTypeMask s32 = mask_of(DType::s32), f32 = mask_of(DType::f32), f64 = mask_of(DType::f64);
  MOTE_TRY(check_vector(c, kEpilogueBias, real ? f32 : a.wide != 0 ? s32 | mask_of(DType::s64) : s32, channels));
  MOTE_TRY(check_vector(c, kEpilogueMultiplier, real ? f32 : f32 | s32 | f64, channels));
  MOTE_TRY(check_vector(c, kEpilogueShift, s32, channels));
  if (c.has(kEpilogueMultiplier) != (y != DType::s32)) return c.reject(Why::kInputCount, y != DType::s32, c.has(kEpilogueMultiplier));
  const bool fixed = c.has(kEpilogueMultiplier) && c.in(kEpilogueMultiplier).dtype == DType::s32;
  if (c.has(kEpilogueShift) != fixed) return c.reject(Why::kInputCount, fixed, c.has(kEpilogueShift));
  MOTE_TRY(check_vector(c, kEpilogueXZero, mask_of(x) | s32, rows));
  MOTE_TRY(check_vector(c, kEpilogueWZero, mask_of(w) | s32, channels));
  if (c.has(kEpilogueXScale) && !real) return c.reject(Why::kInputCount, 0, 1);
  return check_vector(c, kEpilogueXScale, f32, rows);
}

class QuantEpilogue {
 public:
  template <class A>
  QuantEpilogue(const OpContext& c, const A& a)
      : c_(c), y_(c.output(0)), zero_(a.output_zero), x_zero_(a.input_zero), w_zero_(a.weight_zero), wide_(a.wide != 0) {
    range_ = clamp_range(a.clamp_lo, a.clamp_hi, y_.dtype());
  }

  // Zero points come from tensors too, so they are brought into the range of their operand: then sums cannot overflow.
  int32_t x_zero(int32_t row) const { return zero(kEpilogueXZero, 0, row, x_zero_); }
  int32_t w_zero(int32_t channel) const { return zero(kEpilogueWZero, 1, channel, w_zero_); }

  // Stores the element at a byte offset of the output. The sum wraps at 32 bits, unless wide.
  // `residual`: byte offset of the element of the residual, where one was given.
  void store(int32_t offset, uint64_t sum, int32_t row, int32_t channel, int32_t residual = 0) const {
    if (y_.dtype() == DType::f32) {
      const float x_scale = c_.has_input(kEpilogueXScale) ? real(kEpilogueXScale, row) : 1.0f;
      const float v = to_float(sum) * (x_scale * real(kEpilogueMultiplier, channel));
      *y_.at<float>(offset) = c_.has_input(kEpilogueBias) ? v + real(kEpilogueBias, channel) : v;
      return;
    }
    sum += static_cast<uint64_t>(bias(channel));
    if (residual_ != nullptr && to_accumulators_) {
      sum += static_cast<uint64_t>(int64_t{residual_in_sums(load_int(*residual_, residual), channel)});
      store_int(y_, offset, clamp_to(int64_t{scaled(sum, channel)} + zero_, range_));
      return;
    }
    int32_t v = clamp_to(int64_t{scaled(sum, channel)} + zero_, range_);
    if (residual_ != nullptr) v = residual_sum_.of(v, load_int(*residual_, residual), y_.dtype());
    store_int(y_, offset, v);
  }

  // Adds a tensor of the output's shape and type, as q_add does with the result as its first operand, or (kSums) to the sums.
  void add_residual(const Tensor& residual, const QuantBinaryAttrs& how) {
    residual_ = &residual;
    residual_sum_ = QuantSum<1>(how);
    to_accumulators_ = how.mode == static_cast<uint32_t>(QuantMode::kSums);
    residual_zero_ = how.b_zero;
    residual_shift_ = -how.b_shift;
  }
  const Tensor* residual() const { return residual_; }

 private:
  int32_t pick(int i, int32_t k) const { return c_.input(i).rank() == 0 || c_.input(i).dim(0) == 1 ? 0 : k; }
  float real(int i, int32_t k) const { return c_.input(i).as<const float>()[pick(i, k)]; }
  int32_t zero(int i, int operand, int32_t k, int32_t attribute) const {
    if (!c_.has_input(i)) return attribute;
    return clamp_to(vector_int(c_.input(i), pick(i, k)), int_range(c_.input(operand).dtype()));
  }
  int64_t bias(int32_t k) const {
    if (!c_.has_input(kEpilogueBias)) return 0;
    const Tensor& t = c_.input(kEpilogueBias);
    return t.dtype() == DType::s64 ? t.as<const int64_t>()[pick(kEpilogueBias, k)] : t.as<const int32_t>()[pick(kEpilogueBias, k)];
  }
  float to_float(uint64_t sum) const {
    const int64_t v = static_cast<int64_t>(sum);
    return wide_ ? static_cast<float>(v) : static_cast<float>(wrap_to_s32(v));
  }
  int32_t residual_in_sums(int32_t r, int32_t channel) const {
    const int64_t factor = vector_int(c_.input(kEpilogueResidualFactor), pick(kEpilogueResidualFactor, channel));
    const int64_t half = residual_shift_ > 0 ? int64_t{1} << (residual_shift_ - 1) : 0;
    return wrap_to_s32(wrap_to_s32((int64_t{r} - residual_zero_) * factor) + half) >> residual_shift_;
  }
  int32_t scaled(uint64_t sum, int32_t channel) const {
    const int64_t v = static_cast<int64_t>(sum);
    if (!c_.has_input(kEpilogueMultiplier)) return wrap_to_s32(v);
    const Tensor& m = c_.input(kEpilogueMultiplier);
    if (m.dtype() == DType::f32) return round_to_s32(to_float(sum) * real(kEpilogueMultiplier, channel));
    if (m.dtype() == DType::f64) {
      const double exact = static_cast<double>(wide_ ? v : int64_t{wrap_to_s32(v)});
      return round_to_s32(exact * m.as<const double>()[pick(kEpilogueMultiplier, channel)], Rounding::kHalfAway);
    }
    const int32_t multiplier = vector_int(m, pick(kEpilogueMultiplier, channel)),
                  shift = vector_int(c_.input(kEpilogueShift), pick(kEpilogueShift, channel));
    return wide_ ? scale_by_wide(v, multiplier, shift) : scale_by(wrap_to_s32(v), multiplier, shift);
  }

  const OpContext& c_;
  const Tensor& y_;
  int32_t zero_, x_zero_, w_zero_;
  IntRange range_;
  bool wide_;
  const Tensor* residual_ = nullptr;
  QuantSum<1> residual_sum_{QuantBinaryAttrs{}};
  bool to_accumulators_ = false;
  int32_t residual_zero_ = 0, residual_shift_ = 0;
};

// Adds to a sum the products of `count` neighbouring x with weights (n, k), (n, k + 1), ...
template <class X, class W>
uint64_t quant_dot(const X* x, int32_t x_zero, const Weights<W>& w, int32_t w_zero, int32_t n, int32_t k, int32_t count) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < count; ++i) sum += static_cast<uint64_t>((int64_t{x[i]} - x_zero) * (int64_t{w(n, k + i)} - w_zero));
  return sum;
}

// Calls f with a value of the weights' C++ type.
template <class F>
void with_weight_type(DType t, F&& f) {
  switch (t) {
    case DType::s8: f(int8_t{}); return;
    case DType::u8: f(uint8_t{}); return;
    case DType::s16: f(int16_t{}); return;
    case DType::s4: f(s4{}); return;
    default: return;
  }
}

}  // namespace mote::ops
