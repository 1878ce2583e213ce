#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::gather {

struct Attrs {
  int32_t axis = 0;
  int32_t batch_dims = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the slices that indices name along one axis; an index outside the tensor is an error.")
                                    .signature("x, indices -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kIntegerExact)
                                    .onnx("Gather");
inline constexpr auto kAttrs = std::make_tuple(
    attr("axis", &Attrs::axis,
         "axis of x that the indices count along, from the end when negative; negative indices count from the end too"),
    attr("batch_dims", &Attrs::batch_dims, "leading axes that x and indices share, at most axis; negative counts from the indices' end"));

// The result's shape is x[:axis] + indices[batch_dims:] + x[axis+1:].
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  const TensorDesc &x = c.in(0), &indices = c.in(1);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank, &axis));
  const int batch = checked_axis(a.batch_dims, indices.rank);
  if (batch < 0 || batch > axis || batch > indices.rank) return c.reject(Why::kAttribute, axis, a.batch_dims);
  const int rank = x.rank - 1 + indices.rank - batch;
  if (rank > kMaxRank) return c.reject(Why::kRank, kMaxRank, rank);
  int64_t dims[kMaxRank];
  int n = 0;
  for (int i = 0; i < axis; ++i) {
    if (i < batch && x.dims[i] != indices.dims[i]) return c.reject(Why::kDimMismatch, x.dims[i], indices.dims[i]);
    dims[n++] = x.dims[i];
  }
  for (int i = batch; i < indices.rank; ++i) dims[n++] = indices.dims[i];
  for (int i = axis + 1; i < x.rank; ++i) dims[n++] = x.dims[i];
  return set_shape(c, 0, x.dtype, rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::gather
