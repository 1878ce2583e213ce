#include "mote/ops/det/det.h"

#include <cmath>

#include "mote/ops/common/axes_walk.h"
#include "mote/ops/common/nn_checks.h"

namespace mote::ops::det {
namespace {

// Gaussian elimination with partial pivoting; overwrites m (n x n, dense).
template <class T>
T determinant(T* m, int32_t n) noexcept {
  T result = 1;
  for (int32_t k = 0; k < n; ++k) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    if (pivot != k) {
      result = -result;
      for (int32_t j = k; j < n; ++j) {
        const T held = m[k * n + j];
        m[k * n + j] = m[pivot * n + j];
        m[pivot * n + j] = held;
      }
    }
    const T head = m[k * n + k];
    result *= head;
    if (head == 0) continue;
    for (int32_t i = k + 1; i < n; ++i) {
      const T factor = m[i * n + k] / head;
      for (int32_t j = k + 1; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return result;
}

template <class T>
struct Det {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t n = x.dim(x.rank() - 1), row_stride = x.stride(x.rank() - 2);
    T* work = reinterpret_cast<T*>(c.scratch.data);
    AxesWalk<2> walk(*x.desc, (1u << (x.rank() - 2)) - 1, {x.desc, y.desc});
    while (walk.next()) {
      for (int32_t i = 0; i < n; ++i) {
        const T* row = x.at<const T>(walk.offset[0] + i * row_stride);
        for (int32_t j = 0; j < n; ++j) work[i * n + j] = row[j];
      }
      *y.at<T>(walk.offset[1]) = determinant(work, n);
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  const auto n = static_cast<uint64_t>(x.dim(x.rank() - 1));
  return scratch_numbers(n * n, x.dtype());
}

KernelFn select(const OpContext& c) noexcept { return pick<OpId::det, Det>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::det
