#pragma once

#include "mote/ops/common/scatter.h"

namespace mote::ops::scatter_nd {

struct Attrs {
  int32_t reduction = kScatterSet;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Puts updates into a copy of x, at the slices that index tuples, the rows of the indices, name.")
                                    .signature("x, indices, updates -> y")
                                    .inputs(3)
                                    .types(mask_of_list(Types{}))
                                    .flags(kStateUpdate)
                                    .onnx("ScatterND");
inline constexpr auto kAttrs =
    std::make_tuple(attr("reduction", &Attrs::reduction,
                         "0 set (of several updates the last in row-major order stays), 1 add, 2 multiply, 3 minimum, 4 maximum"));

// Updates have the shape indices[:-1] + x[length of a tuple:].
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  MOTE_TRY(require_same_type(c, 2, 0));
  const TensorDesc &x = c.in(0), &indices = c.in(1), &updates = c.in(2);
  if (a.reduction < kScatterSet || a.reduction > kScatterMax) return c.reject(Why::kAttribute, kScatterMax, a.reduction);
  if (indices.rank < 1) return c.reject(Why::kRank, 1, 0);
  const int lead = indices.rank - 1;
  const int32_t tuple = indices.dims[lead];
  if (tuple > x.rank) return c.reject(Why::kDimMismatch, x.rank, tuple);
  if (updates.rank != lead + x.rank - tuple) return c.reject(Why::kRank, lead + x.rank - tuple, updates.rank);
  for (int i = 0; i < updates.rank; ++i) {
    const int32_t size = i < lead ? indices.dims[i] : x.dims[tuple + i - lead];
    if (updates.dims[i] != size) return c.reject(Why::kDimMismatch, size, updates.dims[i]);
  }
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::scatter_nd
