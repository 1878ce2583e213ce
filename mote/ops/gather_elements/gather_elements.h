#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::gather_elements {

struct Attrs {
  int32_t axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes one element per index: the index replaces the position along one axis.")
                                    .signature("x, indices -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kIntegerExact)
                                    .aten("aten::gather.out")
                                    .onnx("GatherElements");
inline constexpr auto kAttrs = std::make_tuple(
    attr("axis", &Attrs::axis, "axis that the indices replace, from the end when negative; negative indices count from the end too"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kIndex));
  const TensorDesc &x = c.in(0), &indices = c.in(1);
  int axis;
  MOTE_TRY(c.axis(a.axis, x.rank, &axis));
  if (indices.rank != x.rank) return c.reject(Why::kRank, x.rank, indices.rank);
  int64_t dims[kMaxRank];
  for (int i = 0; i < x.rank; ++i) {
    if (i != axis && indices.dims[i] > x.dims[i]) return c.reject(Why::kDimMismatch, x.dims[i], indices.dims[i]);
    dims[i] = indices.dims[i];
  }
  return set_shape(c, 0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::gather_elements
