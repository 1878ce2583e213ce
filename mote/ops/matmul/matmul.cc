#include "mote/ops/matmul/matmul.h"

#include "mote/ops/common/axis_walk.h"
#include "mote/ops/common/row_walk.h"

namespace mote::ops::matmul {
namespace {

// Visits the output row by row; dot(a_row, b_bytes, n) gives one product sum. a_row is the row of a, b_bytes the offset of b's matrix.
template <class T, class Dot>
void each_output(const OpContext& c, const Dot& dot) noexcept {
  const Attrs& attrs = c.attrs<Attrs>();
  const Tensor &a = c.input(0), &y = c.output(0);
  // A row of y meets one row of a and a whole matrix of b.
  TensorDesc rows_of_a = *a.desc, matrices_of_b = *c.input(1).desc;
  if (attrs.transpose_a != 0) {
    rows_of_a.dims[a.rank() - 2] = a.dim(a.rank() - 1);
    rows_of_a.strides[a.rank() - 2] = a.stride(a.rank() - 1);
  }
  matrices_of_b.dims[matrices_of_b.rank - 2] = 1;
  const Tensor* bias = c.has_input(2) ? &c.input(2) : nullptr;
  const Tensor* residual = c.has_input(3) ? &c.input(3) : nullptr;
  const TensorDesc* none = y.desc;
  RowWalk<5> walk(*y.desc, {&rows_of_a, &matrices_of_b, bias ? bias->desc : none, residual ? residual->desc : none, y.desc});
  while (walk.next()) {
    const T* row = a.at<const T>(walk.offset[0]);
    const T* plus = bias ? bias->at<const T>(walk.offset[2]) : nullptr;
    const T* more = residual ? residual->at<const T>(walk.offset[3]) : nullptr;
    T* out = y.at<T>(walk.offset[4]);
    for (int32_t n = 0; n < walk.length; ++n) {
      Compute<T> sum = dot(row, walk.offset[1], n);
      if constexpr (is_float_v<T>) sum *= static_cast<Compute<T>>(attrs.alpha);
      out[n] = finish_sum<T>(attrs, sum, plus ? plus + n * walk.step[2] : nullptr, more ? more + n : nullptr);
    }
  }
}

int32_t stride_along_k(const OpContext& c) noexcept {
  const Tensor& a = c.input(0);
  return a.stride(a.rank() - 1 - static_cast<int>(c.attrs<Attrs>().transpose_a));
}

template <class T>
struct Dense {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& attrs = c.attrs<Attrs>();
    const Tensor& b = c.input(1);
    const int32_t k_count = sizes_of(attrs, *c.input(0).desc, *b.desc).k;
    const int32_t a_step = stride_along_k(c), b_last = b.stride(b.rank() - 1), b_row = b.stride(b.rank() - 2);
    const int32_t n_step = attrs.transpose_b != 0 ? b_row : b_last, k_step = attrs.transpose_b != 0 ? b_last : b_row;
    each_output<T>(c, [&](const T* row, int32_t matrix, int32_t n) {
      const T* column = b.at<const T>(matrix + n * n_step);
      C sum = 0;
      for (int32_t k = 0; k < k_count; ++k)
        sum = wrap_add(sum, wrap_mul(static_cast<C>(line_at(row, k, a_step)), static_cast<C>(line_at(column, k, k_step))));
      return sum;
    });
    return Status::kOk;
  }
};

// b is (N, K) in any layout. Each group of k is summed, then scaled.
template <class T, class W>
struct Packed {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& attrs = c.attrs<Attrs>();
    const Weights<W> weights(c.input(1));
    const Tensor* scales = c.has_input(4) ? &c.input(4) : nullptr;
    const Tensor* zeros = c.has_input(5) ? &c.input(5) : nullptr;
    const int32_t k_count = c.input(1).dim(1), a_step = stride_along_k(c);
    const int32_t group = scales != nullptr && attrs.group_size > 0 && attrs.group_size < k_count ? attrs.group_size : k_count;
    const int n_axis = attrs.groups_first != 0 && attrs.group_size > 0 ? 1 : 0;
    const auto beside = [&](const Tensor& t, int32_t n, int32_t g) {
      return n * t.stride(n_axis) + (t.rank() > 1 ? g * t.stride(1 - n_axis) : 0);
    };
    const bool by_panel = group == k_count && zeros == nullptr && a_step == static_cast<int32_t>(sizeof(T)) && weights.panel(0) != nullptr;
    C block[16];
    each_output<T>(c, [&](const T* row, int32_t, int32_t n) {
      if constexpr (!std::is_same_v<W, s4>) {
        if (by_panel) {
          if (n % 16 == 0) {
            for (C& b : block) b = 0;
            add_panel_rows(row, weights.panel(n), k_count, block);
          }
          return scales != nullptr ? block[n % 16] * static_cast<C>(scale_at(*scales, beside(*scales, n, 0))) : block[n % 16];
        }
      }
      C sum = 0;
      for (int32_t first = 0, g = 0; first < k_count; first += group, ++g) {
        const int32_t size = k_count - first < group ? k_count - first : group;
        const C zero = zeros != nullptr ? static_cast<C>(*zeros->at<const int8_t>(beside(*zeros, n, g))) : C(0);
        C part = 0;
        for (int32_t k = first; k < first + size; ++k)
          part += static_cast<C>(line_at(row, k, a_step)) * (static_cast<C>(weights(n, k)) - zero);
        sum += scales != nullptr ? part * static_cast<C>(scale_at(*scales, beside(*scales, n, g))) : part;
      }
      return sum;
    });
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept {
  if (is_weights(c)) return pick_weighted<OpId::matmul, Packed>(c.input(0).dtype(), c.input(1).dtype(), FloatTypes{});
  return pick<OpId::matmul, Dense>(c.input(0).dtype(), Types{});
}

}  // namespace mote::ops::matmul
