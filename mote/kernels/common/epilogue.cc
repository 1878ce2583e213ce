#include "mote/kernels/common/epilogue.h"

namespace mote::kernels::MOTE_ISA_NAME {

EpilogueF32::EpilogueF32(const float* bias, const float* scales, float alpha, uint32_t activation, float a, float b)
    : bias_(bias), scales_(scales), alpha_(alpha), a_(a), b_(b) {
  const ActivationBounds bounds(activation, a, b);
  lo_ = bounds.lo, hi_ = bounds.hi;
  if (bounds.needs_function) slow_activation_ = activate_row_for(activation);
  simple_ = scales == nullptr && alpha == 1;
}

// Contiguous rows are activated as one, which saves the tail of each.
void EpilogueF32::apply_slow_activation(float* const* row, int32_t rows, int32_t first, int32_t count) const {
  int32_t i = 1;
  while (i < rows && row[i] == row[i - 1] + count) ++i;
  if (i == rows) apply_slow_activation(row[0] + first, rows * count);
  else if (slow_activation_ != nullptr) slow_activation_(a_, b_, row, rows, first, count);
}

void EpilogueF32::store_row(const float* accumulators, int32_t first, int32_t count, const float* residual, float* out) const {
  for (int32_t i = 0; i < count; i += kLanes) {
    const int32_t remaining = count - i;
    store_partial(value(load(accumulators + i), first + i, remaining, residual != nullptr ? residual + i : nullptr), remaining, out + i);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
