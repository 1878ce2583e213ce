#pragma once

#include "mote/ops/common/scatter.h"

namespace mote::ops::scatter_elements {

struct Attrs {
  int32_t axis = 0;
  int32_t reduction = kScatterSet;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Puts updates into a copy of x, one element per index, which replaces the position along one axis.")
                                    .signature("x, indices, updates -> y")
                                    .inputs(3)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kStateUpdate)
                                    .aten("aten::scatter.src_out")
                                    .onnx("ScatterElements, Scatter");
inline constexpr auto kAttrs = std::make_tuple(
    attr("axis", &Attrs::axis, "axis that the indices replace, from the end when negative; negative indices count from the end too"),
    attr("reduction", &Attrs::reduction,
         "0 set (of several updates the last in row-major order stays), 1 add, 2 multiply, 3 minimum, 4 maximum"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  MOTE_TRY(require_same_type(c, 2, 0));
  const TensorDesc &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank, &axis));
  if (a.reduction < kScatterSet || a.reduction > kScatterMax) return c.reject(Why::kAttribute, kScatterMax, a.reduction);
  if (indices.rank != x.rank) return c.reject(Why::kRank, x.rank, indices.rank);
  if (updates.rank != x.rank) return c.reject(Why::kRank, x.rank, updates.rank);
  for (int i = 0; i < x.rank; ++i) {
    if (i != axis && indices.dims[i] > x.dims[i]) return c.reject(Why::kDimMismatch, x.dims[i], indices.dims[i]);
    if (indices.dims[i] > updates.dims[i]) return c.reject(Why::kDimMismatch, indices.dims[i], updates.dims[i]);
  }
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::scatter_elements
