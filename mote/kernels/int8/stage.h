#pragma once

// The end of quantized products: sums become outputs, as ops/common/quant_stage.h has it.

#include "mote/kernels/int8/sum.h"
#include "mote/ops/common/quant_stage.h"

namespace mote::kernels::MOTE_STAGE_ISA {

// What belongs to each output of a block.
struct Columns {
  static constexpr int32_t kCount = 256;
  alignas(64) int32_t base[kCount];                                     // bias and zero points
  alignas(64) int32_t zero[kCount];                                     // zero point of the weights
  alignas(64) int32_t weight[kCount];                                   // sum of the weights
  alignas(64) int32_t multiplier[kCount], left[kCount], right[kCount];  // Factor; where the output is f32, multiplier and bias as bits
  alignas(64) double real[kCount];
  alignas(64) int32_t residual[kCount];  // factors of the residual that goes to the sums
  bool simple;                           // every Factor is, and sums are below 2^30 in size: SmallScale serves them
  bool least = false;                    // a weight is -128, where that matters (tile.h)
  bool small;                            // real multipliers are below 1: what they give fits 32 bits and is a number
};

// What belongs to a row of the left side: v = sum + base + zero_factor * zero + weight_factor * weight.
struct RowTerms {
  int32_t zero_factor, weight_factor;
  float scale;  // of x, where the output is f32
};

// A tile of sums and where it goes.
struct Outputs {
  const int32_t* sums;  // [row][sum_stride]
  int32_t sum_stride, rows;
  int32_t at, count;  // the first output within the block, and how many
  uint8_t* const* out;
  const uint8_t* const* residual;  // or null
  const RowTerms* terms;
  bool zeros;  // the terms have factors
};

class Stage {
 public:
  // residual: how it is added; null where there is none.
  template <class A>
  MOTE_INLINE Stage(const OpContext& c, const A& a, const ops::QuantBinaryAttrs* residual)
      : bounds_(a.clamp_lo, a.clamp_hi, a.output_zero, c.output(0).dtype()),
        type_(c.output(0).dtype()),
        bias_(c, ops::kStageBias),
        multiplier_(c, ops::kStageMultiplier),
        shift_(c, ops::kStageShift),
        w_zero_(c, ops::kStageWZero),
        x_zero_(c, ops::kStageXZero),
        x_scale_(c, ops::kStageXScale),
        residual_factor_(c, ops::kStageResidualFactor),
        residual_(residual),
        a_zero_(a.input_zero),
        w_shift_(c.input(1).dtype() == DType::u8 ? 128 : 0),
        b_zero_(a.weight_zero - w_shift_),
        x_type_(c.input(0).dtype()),
        w_type_(c.input(1).dtype()) {
    real_ = multiplier_.given() && c.input(ops::kStageMultiplier).dtype() == DType::f32;
    double_ = multiplier_.given() && c.input(ops::kStageMultiplier).dtype() == DType::f64;
  }

  // True where this code computes what the attributes ask for. Weights of type u8 are multiplied less 128, as s8.
  template <class A>
  static MOTE_INLINE bool can(const OpContext& c, const A& a, DType weights = DType::s8) {
    const DType x = c.input(0).dtype(), y = c.output(0).dtype();
    if (a.wide != 0 || (x != DType::s8 && x != DType::u8) || c.input(1).dtype() != weights) return false;
    if (y == DType::s32) return a.output_zero == 0 && a.clamp_lo == ops::kNoClampLo && a.clamp_hi == ops::kNoClampHi;
    return y == DType::f32 || y == DType::s8 || y == DType::u8 || y == DType::s16;
  }

  MOTE_INLINE bool x_zero_varies() const { return x_zero_.varies(); }
  MOTE_INLINE int32_t x_zero(int32_t row) const { return x_zero_.given() ? x_zero_.zero_point(row, x_type_) : a_zero_; }
  MOTE_INLINE float x_scale(int32_t row) const { return x_scale_.given() ? x_scale_.at<float>(row) : 1.0f; }
  MOTE_INLINE DType type() const { return type_; }
  MOTE_INLINE const Bounds& bounds() const { return bounds_; }
  // The outputs are scaled as 32-bit integers or floats, without 64-bit arithmetic.
  MOTE_INLINE bool has_real() const { return real_; }
  MOTE_INLINE bool has_double() const { return double_; }
  // The residual is added to the sums.
  MOTE_INLINE bool residual_in_sums() const { return residual_factor_.given(); }
  MOTE_INLINE bool has_w_zero() const { return w_zero_.given() || b_zero_ != 0; }

  // Fills in everything but `weight`, for outputs [first, first + count), the last vector to its end. Sums have `terms` products.
  void describe(int32_t first, int32_t count, int32_t terms, Columns* columns) const noexcept;
  // Once `weight` holds the sums of the weights: what all rows share. excess: zero point of x less the offset of the left side's form.
  void add_zero_points(int32_t excess, int32_t k, int32_t count, Columns* columns) const noexcept;

  void store(const Columns& columns, const Outputs& o) const noexcept;

 private:
  friend struct StoreRows;
  Bounds bounds_;
  DType type_;
  Each bias_, multiplier_, shift_, w_zero_, x_zero_, x_scale_, residual_factor_;
  const ops::QuantBinaryAttrs* residual_;
  int32_t a_zero_, w_shift_, b_zero_;
  DType x_type_, w_type_;
  bool real_ = false, double_ = false;
};

}  // namespace mote::kernels::MOTE_STAGE_ISA
