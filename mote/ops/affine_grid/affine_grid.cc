#include "mote/ops/affine_grid/affine_grid.h"

namespace mote::ops::affine_grid {
namespace {

template <class T>
struct AffineGrid {
  using C = Compute<T>;

  // Element i of n in the range -1 to 1.
  static C place(int32_t i, int32_t n, bool corners) noexcept {
    if (corners) return n > 1 ? C(2) * static_cast<C>(i) / static_cast<C>(n - 1) - 1 : C(0);
    return static_cast<C>(2 * int64_t{i} + 1) / static_cast<C>(n) - 1;
  }

  static Status run(const OpContext& c) noexcept {
    const Tensor &theta = c.input(0), &y = c.output(0);
    const int spatial = y.rank() - 2, lead = 3 - spatial;
    const bool corners = c.attrs<Attrs>().align_corners != 0;
    int32_t size[3] = {1, 1, 1}, strides[3] = {};
    for (int d = 0; d < spatial; ++d) {
      size[lead + d] = y.dim(1 + d);
      strides[lead + d] = y.stride(1 + d);
    }
    for (int32_t n = 0; n < y.dim(0); ++n)
      for (int32_t i = 0; i < size[0]; ++i)
        for (int32_t j = 0; j < size[1]; ++j)
          for (int32_t k = 0; k < size[2]; ++k) {
            const C at[4] = {place(k, size[2], corners), place(j, size[1], corners), spatial == 3 ? place(i, size[0], corners) : C(1),
                             C(1)};
            T* to = y.at<T>(n * y.stride(0) + i * strides[0] + j * strides[1] + k * strides[2]);
            for (int r = 0; r < spatial; ++r) {
              const T* row = theta.at<const T>(n * theta.stride(0) + r * theta.stride(1));
              C sum = 0;
              for (int m = 0; m <= spatial; ++m) sum += static_cast<C>(row[m]) * at[m];
              to[r] = static_cast<T>(sum);
            }
          }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::affine_grid, AffineGrid>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::affine_grid
