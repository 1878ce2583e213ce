#pragma once

// What happens to the sums of a product before they are stored: scales, bias, residual, activation.

#include "mote/kernels/common/activate.h"

namespace mote::kernels::MOTE_ISA_NAME {

class Finish {
 public:
  // Any pointer may be null. bias and scales are indexed by output.
  Finish(const float* bias, const float* scales, float alpha, uint32_t activation, float a, float b);

  // Sums may start as bias() and end with clamped(): nothing else is to be done but the residual.
  bool simple() const { return simple_; }
  const float* bias() const { return bias_; }
  MOTE_INLINE VF lowest() const { return broadcast(lo_); }
  MOTE_INLINE VF highest() const { return broadcast(hi_); }
  MOTE_INLINE VF clamped(VF sum) const { return clamp(sum, lowest(), highest()); }

  // A vector of sums of the outputs from `output` on, all but the activations that activate_after() does. `left`: outputs that there are.
  MOTE_INLINE VF value(VF sum, int32_t output, int32_t left, const float* residual) const {
    if (alpha_ != 1) sum = hn::Mul(sum, broadcast(alpha_));
    if (scales_ != nullptr) sum = hn::Mul(sum, load_some(scales_ + output, left));
    if (bias_ != nullptr) sum = hn::Add(sum, load_some(bias_ + output, left));
    if (residual != nullptr) sum = hn::Add(sum, load_some(residual, left));
    return clamped(sum);
  }

  // The activations that cost more, over a row that has been stored.
  bool has_after() const { return after_ != nullptr; }
  MOTE_INLINE void activate_after(float* row, int32_t count) const {
    if (after_ != nullptr) after_(a_, b_, &row, 1, 0, count);
  }
  // Elements [first, first + count) of each row.
  void activate_after(float* const* row, int32_t rows, int32_t first, int32_t count) const;

  // Sums of `count` outputs from `first` on, in a row of memory, to where they belong; activate_after() is left to do.
  void store_row(const float* sums, int32_t first, int32_t count, const float* residual, float* out) const;

 private:
  const float* bias_;
  const float* scales_;
  float alpha_, lo_, hi_, a_, b_;
  ActivateFn after_ = nullptr;
  bool simple_ = false;
};

}  // namespace mote::kernels::MOTE_ISA_NAME
