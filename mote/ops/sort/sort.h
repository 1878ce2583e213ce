#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::sort {

struct Attrs {
  int32_t axis = -1;
  int32_t descending = 0;
  int32_t index_s32 = 0;
};
using Types = AllTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Sorts along one axis; equal elements keep their order, and NaN is the largest.")
                                    .signature("x -> values?, indices?")
                                    .outputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .scratch(&scratch)
                                    .aten("aten::sort.values_stable");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to sort; negative counts from the end"),
                                               attr("descending", &Attrs::descending, "1: largest first"),
                                               attr("index_s32", &Attrs::index_s32, "1: indices are s32 instead of s64"));

// A scalar is a tensor with one element, as in ATen.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  int axis;
  MOTE_TRY(c.axis(a.axis, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  if (c.in(0).rank > 0 && c.in(0).dims[axis] > kMaxSorted) return c.reject(Why::kShapeOverflow, kMaxSorted, c.in(0).dims[axis]);
  c.same_as(0, 0, c.in(0).dtype);
  if (c.outputs() < 2) return Status::kOk;
  int64_t dims[kMaxRank];
  for (int i = 0; i < c.in(0).rank; ++i) dims[i] = c.in(0).dims[i];
  return set_shape(c, 1, a.index_s32 != 0 ? DType::s32 : DType::s64, c.in(0).rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::sort
