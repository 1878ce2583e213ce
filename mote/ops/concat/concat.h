#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::concat {

struct Attrs {
  int32_t axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Joins tensors along one axis.")
                                    .signature("x... -> y")
                                    .inputs(1, kVariadic)
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kIntegerExact)
                                    .aten("aten::cat.out")
                                    .onnx("Concat");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to join along; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& first = c.in(0);
  int axis;
  MOTE_TRY(c.axis(a.axis, first.rank, &axis));
  int64_t dims[kMaxRank];
  for (int k = 0; k < first.rank; ++k) dims[k] = first.dims[k];
  for (int i = 1; i < c.inputs(); ++i) {
    MOTE_TRY(require_same_type(c, i, 0));
    if (c.in(i).rank != first.rank) return c.reject(Why::kRank, first.rank, c.in(i).rank);
    for (int k = 0; k < first.rank; ++k)
      if (k != axis && c.in(i).dims[k] != first.dims[k]) return c.reject(Why::kDimMismatch, first.dims[k], c.in(i).dims[k]);
    dims[axis] += c.in(i).dims[axis];
  }
  return set_shape(c, 0, first.dtype, first.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::concat
