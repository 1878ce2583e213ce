#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::gather_nd {

struct Attrs {
  int32_t batch_dims = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the slices that index tuples, the rows of the indices, name.")
                                    .signature("x, indices -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .onnx("GatherND");
inline constexpr auto kAttrs = std::make_tuple(
    attr("batch_dims", &Attrs::batch_dims, "leading axes that x and indices share; the tuples count along the axes after them"));

// The result's shape is indices[:-1] + x[batch_dims + length of a tuple:].
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  const TensorDesc &x = c.in(0), &indices = c.in(1);
  if (indices.rank < 1) return c.reject(Why::kRank, 1, 0);
  const int batch = a.batch_dims;
  if (batch < 0 || batch >= indices.rank || batch > x.rank) return c.reject(Why::kAttribute, indices.rank - 1, batch);
  for (int i = 0; i < batch; ++i)
    if (x.dims[i] != indices.dims[i]) return c.reject(Why::kDimMismatch, x.dims[i], indices.dims[i]);
  const int32_t tuple = indices.dims[indices.rank - 1];
  if (tuple > x.rank - batch) return c.reject(Why::kDimMismatch, x.rank - batch, tuple);
  const int rank = indices.rank - 1 + x.rank - batch - tuple;
  if (rank > kMaxRank) return c.reject(Why::kRank, kMaxRank, rank);
  int64_t dims[kMaxRank];
  int n = 0;
  for (int i = 0; i + 1 < indices.rank; ++i) dims[n++] = indices.dims[i];
  for (int i = batch + tuple; i < x.rank; ++i) dims[n++] = x.dims[i];
  return set_shape(c, 0, x.dtype, rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::gather_nd
