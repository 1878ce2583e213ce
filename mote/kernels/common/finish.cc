#include "mote/kernels/common/finish.h"

namespace mote::kernels::MOTE_ISA_NAME {

Finish::Finish(const float* bias, const float* scales, float alpha, uint32_t activation, float a, float b)
    : bias_(bias), scales_(scales), alpha_(alpha), a_(a), b_(b) {
  const ActivationBounds bounds(activation, a, b);
  lo_ = bounds.lo, hi_ = bounds.hi;
  if (bounds.more) after_ = activate_row_for(activation);
  simple_ = scales == nullptr && alpha == 1;
}

// Rows that lie one behind the other are one.
void Finish::activate_after(float* const* row, int32_t rows, int32_t first, int32_t count) const {
  int32_t i = 1;
  while (i < rows && row[i] == row[i - 1] + count) ++i;
  if (i == rows) activate_after(row[0] + first, rows * count);
  else if (after_ != nullptr) after_(a_, b_, row, rows, first, count);
}

void Finish::store_row(const float* sums, int32_t first, int32_t count, const float* residual, float* out) const {
  for (int32_t i = 0; i < count; i += kLanes) {
    const int32_t left = count - i;
    store_some(value(load(sums + i), first + i, left, residual != nullptr ? residual + i : nullptr), left, out + i);
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
