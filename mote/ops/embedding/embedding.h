#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/linear.h"

namespace mote::ops::embedding {

struct Attrs {
  int32_t group_size = 0;
};
using Types = TypeList<f16, bf16, int8_t, s4>;
inline constexpr OpInfo kInfo =
    OpInfo("Takes rows of a table of compact numbers as f32: (x - zero_point) * scale; an index outside the table is an error.")
        .signature("table, indices, scales?, zero_points? -> y")
        .inputs(2, 4)
        .types(mask_of_list(Types{}))
        .ranks(2, 2)
        .onnx("GatherBlockQuantized");
inline constexpr auto kAttrs = std::make_tuple(attr(
    "group_size", &Attrs::group_size, "values of a row that share a scale, scales are (rows, width/group_size); 0: scales are (rows)"));

// The shape of y is that of the indices and the width of the table. Negative indices count from the end.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  MOTE_TRY(require_plain(c, 0));
  const TensorDesc &table = c.in(0), &indices = c.in(1);
  if (table.rank != 2) return c.reject(Why::kRank, 2, table.rank);
  if (a.group_size < 0) return c.reject(Why::kAttribute, 0, a.group_size);
  if (c.has(2)) {
    MOTE_TRY(c.require(2, kScaleTypes));
    MOTE_TRY(require_plain(c, 2));
    const TensorDesc& scales = c.in(2);
    const int rank = a.group_size > 0 ? 2 : 1;
    if (scales.rank != rank) return c.reject(Why::kRank, rank, scales.rank);
    if (scales.dims[0] != table.dims[0]) return c.reject(Why::kDimMismatch, table.dims[0], scales.dims[0]);
    const int64_t groups = rank == 2 ? (int64_t{table.dims[1]} + a.group_size - 1) / a.group_size : 0;
    if (rank == 2 && scales.dims[1] != groups) return c.reject(Why::kDimMismatch, groups, scales.dims[1]);
  }
  if (c.has(3)) {
    if (!c.has(2)) return c.reject(Why::kInputMissing, 2, -1);
    MOTE_TRY(c.require(3, mask_of(DType::s8)));
    MOTE_TRY(require_plain(c, 3));
    if (!same_shape(c.in(2), c.in(3))) return c.reject(Why::kDimMismatch, c.in(2).dims[0], c.in(3).dims[0]);
  }
  if (indices.rank + 1 > kMaxRank) return c.reject(Why::kRank, kMaxRank, indices.rank + 1);
  int32_t dims[kMaxRank];
  for (int i = 0; i < indices.rank; ++i) dims[i] = indices.dims[i];
  dims[indices.rank] = table.dims[1];
  return c.set(0, DType::f32, indices.rank + 1, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::embedding
