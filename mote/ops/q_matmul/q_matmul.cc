#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::ops::q_matmul {
namespace {

// Position of one pair of matrices: byte offsets of x and the weights, and how many matrices of x lie before it.
struct Batch {
  int32_t x = 0, w = 0, y = 0, x_index = 0;
};

Batch locate(const TensorDesc& x, const TensorDesc& w, const TensorDesc& y, const int32_t* index) {
  Batch b;
  for (int i = 0; i < y.rank - 2; ++i) {
    const int xi = i - (y.rank - x.rank), wi = i - (y.rank - w.rank);
    b.y += index[i] * y.strides[i];
    if (xi >= 0) {
      const int32_t at = x.dims[xi] == 1 ? 0 : index[i];
      b.x += at * x.strides[xi];
      b.x_index = b.x_index * x.dims[xi] + at;
    }
    if (wi >= 0 && w.dims[wi] != 1) b.w += index[i] * w.strides[wi];
  }
  return b;
}

template <class X, class W>
void multiply(const OpContext& c, const QuantEpilogue& epilogue, const Batch& b) {
  const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
  TensorDesc matrix = *w.desc;
  if (matrix.rank > 2) {
    for (int i = 0; i < 2; ++i) {
      matrix.dims[i] = w.dim(w.rank() - 2 + i);
      matrix.strides[i] = w.stride(w.rank() - 2 + i);
    }
    matrix.rank = 2;
  }
  const Tensor view{&matrix, w.at<uint8_t>(b.w)};
  const Weights<W> weights(view);
  const int32_t rows = x.dim(x.rank() - 2), depth = x.dim(x.rank() - 1), n = matrix.dims[0];
  const int32_t width = static_cast<int32_t>(dtype_bytes(y.dtype()));
  for (int32_t m = 0; m < rows; ++m) {
    const X* in = x.at<const X>(b.x + m * x.stride(x.rank() - 2));
    const int32_t out = b.y + m * y.stride(y.rank() - 2), row = b.x_index * rows + m, x_zero = epilogue.x_zero(row);
    for (int32_t k = 0; k < n; ++k)
      epilogue.store(out + k * width, quant_dot(in, x_zero, weights, epilogue.w_zero(k), k, 0, depth), row, k);
  }
}

template <class X>
struct Matmul {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &w = c.input(1), &y = c.output(0);
    const QuantEpilogue epilogue(c, c.attrs<Attrs>());
    int32_t index[kMaxRank] = {};
    if (y.count() == 0) return Status::kOk;
    for (int carry = y.rank(); carry >= 0;) {
      const Batch b = locate(*x.desc, *w.desc, *y.desc, index);
      with_weight_type(w.dtype(), [&](auto type) { multiply<X, decltype(type)>(c, epilogue, b); });
      for (carry = y.rank() - 3; carry >= 0; --carry) {
        if (++index[carry] < y.dim(carry)) break;
        index[carry] = 0;
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_matmul, Matmul>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_matmul
