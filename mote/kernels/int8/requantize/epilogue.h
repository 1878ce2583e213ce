#pragma once

// The epilogue of quantized GEMMs and depthwise convolutions: bias, zero-point corrections, requantization, residual and store of a tile of
// 32-bit accumulators, with the results of ops/common/quant_epilogue.h.

#include "mote/kernels/int8/requantize/add.h"
#include "mote/ops/common/quant_epilogue.h"

namespace mote::kernels::MOTE_ISA_EPILOGUE::int8 {

// Parameters of each output channel of a block.
struct ChannelParams {
  static constexpr int32_t kCount = 256;
  alignas(64) int32_t base[kCount];         // bias and products of zero points: added to the accumulator
  alignas(64) int32_t weight_zero[kCount];  // of the weights
  alignas(64) int32_t weight_sum[kCount];   // over the reduction dimension
  // FixedPointScale. Where multipliers are real, they are the bits of floats; where the output is f32, so is the bias, in left_shift.
  alignas(64) int32_t multiplier[kCount];
  alignas(64) int32_t left_shift[kCount];
  alignas(64) int32_t right_shift[kCount];
  alignas(64) double multiplier_f64[kCount];
  alignas(64) int32_t residual_multiplier[kCount];  // fixed-point multipliers of a residual that is added to accumulators
  bool fast_fixed_point;  // every scale is right_shift_only() and accumulators are below 2^30 in magnitude: FastFixedPointScale applies
  bool has_minus_128 = false;  // a weight is -128; set where the micro-kernel needs to know (TileArgs::careful)
  bool real_below_one;         // real multipliers are below 1: scaled accumulators fit 32 bits, and none is NaN
};

// Zero-point corrections of a row of the LHS: accumulator + base + zero_factor * weight_zero + weight_factor * weight_sum.
struct RowCorrection {
  int32_t zero_factor, weight_factor;
  float scale;  // of x, where the output is f32
};

// A tile of accumulators and the rows it is stored to.
struct OutputTile {
  const int32_t* accumulators;  // [row][stride]
  int32_t stride, rows;
  int32_t first, count;  // the first output channel within the block, and how many
  uint8_t* const* out;
  const uint8_t* const* residual;  // null: there is none
  const RowCorrection* corrections;
  bool apply_corrections;  // false: the factors of `corrections` are all 0
};

class RequantEpilogue {
 public:
  // residual: attributes of its addition; null where there is none.
  template <class A>
  MOTE_INLINE RequantEpilogue(const OpContext& c, const A& a, const ops::QuantBinaryAttrs* residual)
      : bounds_(a.clamp_lo, a.clamp_hi, a.output_zero, c.output(0).dtype()),
        type_(c.output(0).dtype()),
        bias_(c, ops::kEpilogueBias),
        multiplier_(c, ops::kEpilogueMultiplier),
        shift_(c, ops::kEpilogueShift),
        w_zero_(c, ops::kEpilogueWZero),
        x_zero_(c, ops::kEpilogueXZero),
        x_scale_(c, ops::kEpilogueXScale),
        residual_factor_(c, ops::kEpilogueResidualFactor),
        residual_(residual),
        input_zero_(a.input_zero),
        weight_offset_(c.input(1).dtype() == DType::u8 ? 128 : 0),
        weight_zero_(a.weight_zero - weight_offset_),
        x_type_(c.input(0).dtype()),
        w_type_(c.input(1).dtype()) {
    real_ = multiplier_.given() && c.input(ops::kEpilogueMultiplier).dtype() == DType::f32;
    double_ = multiplier_.given() && c.input(ops::kEpilogueMultiplier).dtype() == DType::f64;
  }

  // True where this class computes what the attributes ask for. u8 weights are converted to s8 by subtracting 128.
  template <class A>
  static MOTE_INLINE bool supports(const OpContext& c, const A& a, DType weights = DType::s8) {
    const DType x = c.input(0).dtype(), y = c.output(0).dtype();
    if (a.wide != 0 || (x != DType::s8 && x != DType::u8) || c.input(1).dtype() != weights) return false;
    if (y == DType::s32) return a.output_zero == 0 && a.clamp_lo == ops::kNoClampLo && a.clamp_hi == ops::kNoClampHi;
    return y == DType::f32 || y == DType::s8 || y == DType::u8 || y == DType::s16;
  }

  MOTE_INLINE bool x_zero_varies() const { return x_zero_.varies(); }
  MOTE_INLINE int32_t x_zero(int32_t row) const { return x_zero_.given() ? x_zero_.zero_point(row, x_type_) : input_zero_; }
  MOTE_INLINE float x_scale(int32_t row) const { return x_scale_.given() ? x_scale_.at<float>(row) : 1.0f; }
  MOTE_INLINE DType type() const { return type_; }
  MOTE_INLINE const ClampRange& bounds() const { return bounds_; }
  // How outputs are scaled: f32 multipliers (has_real), f64 multipliers (has_double), else fixed point.
  MOTE_INLINE bool has_real() const { return real_; }
  MOTE_INLINE bool has_double() const { return double_; }
  // The residual is added to accumulators, before requantization.
  MOTE_INLINE bool residual_in_accumulator() const { return residual_factor_.given(); }
  MOTE_INLINE bool has_w_zero() const { return w_zero_.given() || weight_zero_ != 0; }

  // Fills in all but `weight_sum` for outputs [first, first + count), and the rest of the last vector. terms: products in an accumulator.
  void load_params(int32_t first, int32_t count, int32_t terms, ChannelParams* columns) const noexcept;
  // Adds the zero-point terms that all rows share to `base`; needs `weight_sum`. excess: zero point of x less the offset of the LHS
  // encoding. k: products in an accumulator.
  void add_zero_points(int32_t excess, int32_t k, int32_t count, ChannelParams* columns) const noexcept;

  void store(const ChannelParams& params, const OutputTile& tile) const noexcept;

 private:
  friend struct EpilogueKernels;
  ClampRange bounds_;
  DType type_;
  BroadcastOperand bias_, multiplier_, shift_, w_zero_, x_zero_, x_scale_, residual_factor_;
  const ops::QuantBinaryAttrs* residual_;
  int32_t input_zero_, weight_offset_, weight_zero_;
  DType x_type_, w_type_;
  bool real_ = false, double_ = false;
};

}  // namespace mote::kernels::MOTE_ISA_EPILOGUE::int8
