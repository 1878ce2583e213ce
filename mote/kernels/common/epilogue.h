#pragma once

// The epilogue of f32 GEMMs and convolutions: what is applied to accumulators before they are stored (alpha, scales, bias, residual,
// activation, in this order).

#include "mote/kernels/common/activate.h"

namespace mote::kernels::MOTE_ISA_NAME {

class EpilogueF32 {
 public:
  // bias and scales are indexed by output channel; both may be null. a and b: parameters of the activation.
  EpilogueF32(const float* bias, const float* scales, float alpha, uint32_t activation, float a, float b);

  // True when accumulators may start as bias() and end with clamped(): nothing but the residual is left for the epilogue.
  bool simple() const { return simple_; }
  const float* bias() const { return bias_; }
  MOTE_INLINE VF lowest() const { return broadcast(lo_); }
  MOTE_INLINE VF highest() const { return broadcast(hi_); }
  MOTE_INLINE VF clamped(VF acc) const { return clamp(acc, lowest(), highest()); }

  // A vector of accumulators of the outputs from `output` on, of which `remaining` exist. All but apply_slow_activation().
  MOTE_INLINE VF value(VF acc, int32_t output, int32_t remaining, const float* residual) const {
    if (alpha_ != 1) acc = hn::Mul(acc, broadcast(alpha_));
    if (scales_ != nullptr) acc = hn::Mul(acc, load_partial(scales_ + output, remaining));
    if (bias_ != nullptr) acc = hn::Add(acc, load_partial(bias_ + output, remaining));
    if (residual != nullptr) acc = hn::Add(acc, load_partial(residual, remaining));
    return clamped(acc);
  }

  // Activations that are not a clamp: applied to rows that have been stored, so that micro-kernels stay small.
  bool has_slow_activation() const { return slow_activation_ != nullptr; }
  MOTE_INLINE void apply_slow_activation(float* row, int32_t count) const {
    if (slow_activation_ != nullptr) slow_activation_(a_, b_, &row, 1, 0, count);
  }
  // Elements [first, first + count) of each row.
  void apply_slow_activation(float* const* row, int32_t rows, int32_t first, int32_t count) const;

  // Stores a row of accumulators that lies in memory: outputs [first, first + count). All but apply_slow_activation().
  void store_row(const float* accumulators, int32_t first, int32_t count, const float* residual, float* out) const;

 private:
  const float* bias_;
  const float* scales_;
  float alpha_, lo_, hi_, a_, b_;
  ActivateFn slow_activation_ = nullptr;
  bool simple_ = false;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
