#pragma once

// What convolutions and matrix products share: which element types go together, and how a sum becomes a result.

#include "mote/ops/common/activation.h"
#include "mote/ops/common/select.h"
#include "mote/ops/common/weights.h"
#include "mote/ops/common/wrap.h"

namespace mote::ops {

// f32 operands also take weights in these types; the weights are widened, then scaled.
constexpr DTypeMask kCompactWeights = mask_of(DType::f16) | mask_of(DType::bf16) | mask_of(DType::s8) | mask_of(DType::s4);
constexpr DTypeMask kScaleTypes = mask_of(DType::f32) | mask_of(DType::f16);

// The scale at a byte offset of a tensor of scales.
inline float scale_at(const Tensor& scales, int32_t offset) {
  return scales.dtype() == DType::f16 ? static_cast<float>(*scales.at<const f16>(offset)) : *scales.at<const float>(offset);
}

inline Status require_plain(const InferContext& c, int i) noexcept {
  const TensorDesc& d = c.in(i);
  return d.layout == Layout::kPlain && d.ring_rows == 0 ? Status(Status::kOk) : c.reject(Why::kLayout, 0, static_cast<uint8_t>(d.layout));
}

// Checks that input i has input 0's element type.
inline Status require_same_type(const InferContext& c, int i) noexcept {
  const DType expected = c.in(0).dtype, found = c.in(i).dtype;
  return expected == found ? Status(Status::kOk)
                           : c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(expected), static_cast<uint8_t>(found));
}

// Checks the type and layout of the weights, input 1, against input 0.
inline Status check_weights(const InferContext& c) noexcept {
  if (!c.has(1)) return c.reject(Why::kInputMissing, 1, -1);
  const TensorDesc& w = c.in(1);
  const bool compact = c.in(0).dtype == DType::f32 && (mask_of(w.dtype) & kCompactWeights) != 0;
  if (!compact) MOTE_TRY(require_same_type(c, 1));
  const bool panel = (panel_shape(w.layout, w.dtype).types & mask_of(w.dtype)) != 0;
  return panel && w.ring_rows == 0 ? Status(Status::kOk) : require_plain(c, 1);
}

// Checks that optional input i has one value per output channel, of input 0's type or of the one given.
inline Status check_per_channel(const InferContext& c, int i, int32_t channels, DType type = DType::kNone) noexcept {
  if (!c.has(i)) return Status::kOk;
  if (type == DType::kNone) MOTE_TRY(require_same_type(c, i));
  else MOTE_TRY(c.require(i, mask_of(type)));
  MOTE_TRY(require_plain(c, i));
  if (c.in(i).rank != 1) return c.reject(Why::kRank, 1, c.in(i).rank);
  return c.in(i).dims[0] == channels ? Status(Status::kOk) : c.reject(Why::kDimMismatch, channels, c.in(i).dims[0]);
}

// Checks that input i has scales, one for each of so many rows and columns, and that input i + 1, where it is there, has zero points.
inline Status check_group_scales(const InferContext& c, int i, int64_t rows, int32_t columns) noexcept {
  MOTE_TRY(c.require(i, kScaleTypes));
  MOTE_TRY(require_plain(c, i));
  const TensorDesc& d = c.in(i);
  if (d.rank != 2) return c.reject(Why::kRank, 2, d.rank);
  if (d.dims[0] != rows) return c.reject(Why::kDimMismatch, rows, d.dims[0]);
  if (d.dims[1] != columns) return c.reject(Why::kDimMismatch, columns, d.dims[1]);
  if (!c.has(i + 1)) return Status::kOk;
  MOTE_TRY(c.require(i + 1, mask_of(DType::s8)));
  MOTE_TRY(require_plain(c, i + 1));
  const TensorDesc& z = c.in(i + 1);
  if (z.rank != 2) return c.reject(Why::kRank, 2, z.rank);
  if (z.dims[0] != rows) return c.reject(Why::kDimMismatch, rows, z.dims[0]);
  return z.dims[1] == columns ? Status(Status::kOk) : c.reject(Why::kDimMismatch, columns, z.dims[1]);
}

// Checks that optional input i has output 0's shape and input 0's type.
inline Status check_residual(const InferContext& c, int i) noexcept {
  if (!c.has(i)) return Status::kOk;
  MOTE_TRY(require_same_type(c, i));
  const TensorDesc& d = c.in(i);
  if (d.layout != Layout::kPlain) return c.reject(Why::kLayout, 0, static_cast<uint8_t>(d.layout));
  if (d.rank != c.out(0).rank) return c.reject(Why::kRank, c.out(0).rank, d.rank);
  for (int k = 0; k < d.rank; ++k)
    if (d.dims[k] != c.out(0).dims[k]) return c.reject(Why::kDimMismatch, c.out(0).dims[k], d.dims[k]);
  return Status::kOk;
}

// Bias and residual (either may be null) and the activation of the attributes, applied to a sum.
template <class T, class A>
T finish_sum(const A& a, Compute<T> sum, const T* bias, const T* residual) noexcept {
  using C = Compute<T>;
  if (bias != nullptr) sum = wrap_add(sum, static_cast<C>(*bias));
  if (residual != nullptr) sum = wrap_add(sum, static_cast<C>(*residual));
  if constexpr (is_float_v<T>) return static_cast<T>(apply_activation(a.activation, a.act_a, a.act_b, sum));
  else return sum;
}

namespace detail {
template <OpId Op, template <class, class> class Kernel, class T, class W>
void pick_pair(DType x, DType w, KernelFn& fn) noexcept {
  if constexpr ((selected_types(Op) & mask_of(dtype_of<T>)) != 0) {
    if (x == dtype_of<T> && w == dtype_of<W>) fn = &Kernel<T, W>::run;
  }
}
}  // namespace detail

// The function Kernel<T, W>::run for operands of type x and weights of type w; null when there is none.
template <OpId Op, template <class, class> class Kernel, class... Ts>
KernelFn pick_weighted(DType x, DType w, TypeList<Ts...>) noexcept {
  KernelFn fn = nullptr;
  (detail::pick_pair<Op, Kernel, Ts, Ts>(x, w, fn), ...);
  detail::pick_pair<Op, Kernel, float, f16>(x, w, fn);
  detail::pick_pair<Op, Kernel, float, bf16>(x, w, fn);
  detail::pick_pair<Op, Kernel, float, int8_t>(x, w, fn);
  detail::pick_pair<Op, Kernel, float, s4>(x, w, fn);
  return fn;
}

}  // namespace mote::ops
