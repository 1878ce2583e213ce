#pragma once

#include "mote/ops/common/linear.h"

namespace mote::ops::matmul {

struct Attrs {
  uint32_t transpose_a = 0;
  uint32_t transpose_b = 0;
  float alpha = 1;
  int32_t group_size = 0;
  uint32_t activation = 0;
  float act_a = 0;
  float act_b = 0;
  uint32_t groups_first = 0;
};
using Types = TypeList<float, double, f16, bf16, int32_t, uint32_t, int64_t, uint64_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Multiplies matrices, batch by batch with broadcasting; b may be compact or packed weights (N, K) with scales; integers wrap.")
        .signature("a, b, bias?, residual?, scales?, zero_points? -> y")
        .inputs(2, 6)
        .types(mask_of_list(Types{}))
        .ranks(2, kMaxRank)
        .flags(kPackedWeights)
        .aten("aten::matmul.out")
        .onnx("MatMul, Gemm");
inline constexpr auto kAttrs = std::tuple_cat(
    std::make_tuple(
        attr("transpose_a", &Attrs::transpose_a, "1: a is (K, M) instead of (M, K)"),
        attr("transpose_b", &Attrs::transpose_b, "1: b is (N, K) instead of (K, N)"),
        attr("alpha", &Attrs::alpha, "factor of the product, before the bias; 1 for integers"),
        attr("group_size", &Attrs::group_size, "values of k that share a scale, scales are (N, K/group_size); 0: scales are (N)")),
    activation_fields<Attrs>(),
    std::make_tuple(attr("groups_first", &Attrs::groups_first, "1: scales and zero points of groups are (K/group_size, N)")));

struct Sizes {
  int32_t m, n, k;
};
inline Sizes sizes_of(const Attrs& a, const TensorDesc& left, const TensorDesc& right) {
  const int32_t *l = left.dims + left.rank - 2, *r = right.dims + right.rank - 2;
  return {l[a.transpose_a], r[1 - a.transpose_b], l[1 - a.transpose_a]};
}

// True when b is read through its layout, type and scales; else it is a matrix of a's type.
inline bool is_weights(const OpContext& c) {
  return c.has_input(4) || c.input(1).dtype() != c.input(0).dtype() || c.input(1).desc->layout != Layout::kPlain;
}

inline Status check_scales(const Attrs& a, const InferContext& c, const Sizes& s) noexcept {
  if (!c.has(4)) return c.has(5) ? c.reject(Why::kInputMissing, 4, -1) : Status(Status::kOk);
  MOTE_TRY(c.require(4, kScaleTypes));
  if (c.in(0).dtype != DType::f32) return c.reject(Why::kDType, mask_of(DType::f32), static_cast<uint8_t>(c.in(0).dtype));
  MOTE_TRY(require_plain(c, 4));
  const TensorDesc& d = c.in(4);
  const int rank = a.group_size > 0 ? 2 : 1;
  if (d.rank != rank) return c.reject(Why::kRank, rank, d.rank);
  const int n_axis = rank == 2 && a.groups_first != 0 ? 1 : 0;
  if (d.dims[n_axis] != s.n) return c.reject(Why::kDimMismatch, s.n, d.dims[n_axis]);
  const int64_t groups = a.group_size > 0 ? (static_cast<int64_t>(s.k) + a.group_size - 1) / a.group_size : 0;
  if (rank == 2 && d.dims[1 - n_axis] != groups) return c.reject(Why::kDimMismatch, groups, d.dims[1 - n_axis]);
  if (!c.has(5)) return Status::kOk;
  MOTE_TRY(c.require(5, mask_of(DType::s8)));
  MOTE_TRY(require_plain(c, 5));
  return same_shape(c.in(5), d) ? Status(Status::kOk) : c.reject(Why::kDimMismatch, d.dims[0], c.in(5).dims[0]);
}

// Sets the output to (broadcast batch dimensions, M, N).
inline Status set_product(const InferContext& c, const Sizes& s) noexcept {
  const TensorDesc &l = c.in(0), &r = c.in(1);
  const int rank = l.rank > r.rank ? l.rank : r.rank;
  int32_t dims[kMaxRank];
  for (int i = 0; i + 2 < rank; ++i) {
    const int li = i - (rank - l.rank), ri = i - (rank - r.rank);
    const int32_t a = li < 0 ? 1 : l.dims[li], b = ri < 0 ? 1 : r.dims[ri];
    if (a != b && a != 1 && b != 1) return c.reject(Why::kBroadcast, a, b);
    dims[i] = a == 1 ? b : a;
  }
  dims[rank - 2] = s.m;
  dims[rank - 1] = s.n;
  return c.set(0, l.dtype, rank, dims);
}

inline Status check_bias(const InferContext& c) noexcept {
  if (!c.has(2)) return Status::kOk;
  MOTE_TRY(require_same_type(c, 2));
  MOTE_TRY(require_plain(c, 2));
  const TensorDesc& d = c.in(2);
  const TensorType& y = c.out(0);
  if (d.rank > y.rank) return c.reject(Why::kRank, y.rank, d.rank);
  for (int i = 0; i < d.rank; ++i)
    if (d.dims[i] != 1 && d.dims[i] != y.dims[y.rank - d.rank + i])
      return c.reject(Why::kBroadcast, y.dims[y.rank - d.rank + i], d.dims[i]);
  return Status::kOk;
}

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_plain(c, 0));
  MOTE_TRY(check_weights(c));
  MOTE_TRY(check_activation(c, a));
  if (a.transpose_a > 1 || a.transpose_b > 1 || a.group_size < 0 || a.groups_first > 1) return c.reject(Why::kAttribute);
  const bool integer = (mask_of(c.in(0).dtype) & kInt) != 0;
  if (integer && (a.alpha != 1 || a.activation != 0)) return c.reject(Why::kAttribute, 0, a.activation);
  for (int i = 0; i < 2; ++i)
    if (c.in(i).rank < 2) return c.reject(Why::kRank, 2, c.in(i).rank);
  if (is_weights(c.op())) {
    if (a.transpose_b != 1) return c.reject(Why::kAttribute, 1, a.transpose_b);
    if (c.in(1).rank != 2) return c.reject(Why::kRank, 2, c.in(1).rank);
  }
  const Sizes s = sizes_of(a, c.in(0), c.in(1));
  const int32_t k = c.in(1).dims[c.in(1).rank - 2 + static_cast<int>(a.transpose_b)];
  if (k != s.k) return c.reject(Why::kDimMismatch, s.k, k);
  MOTE_TRY(check_scales(a, c, s));
  MOTE_TRY(set_product(c, s));
  MOTE_TRY(check_bias(c));
  return check_residual(c, 3);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::matmul
