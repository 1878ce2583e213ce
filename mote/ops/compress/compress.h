#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::compress {

struct Attrs {
  int32_t axis = 0;
  int32_t has_axis = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Keeps the slices along an axis, or the elements, for which a condition is true.")
                                    .signature("x, condition -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kDataDependent | kIntegerExact)
                                    .onnx("Compress");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to thin out; negative counts from the end"),
                                               attr("has_axis", &Attrs::has_axis, "0: take elements of the flattened tensor"));

// The condition may be shorter than the axis; what lies beyond it is dropped.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(c.require(1, kBool));
  const TensorDesc &x = c.in(0), &condition = c.in(1);
  if (condition.rank != 1) return c.reject(Why::kRank, 1, condition.rank);
  const int32_t unknown = kDimUnknown;
  int axis = 0;
  if (a.has_axis != 0) {
    MOTE_TRY(c.axis(a.axis, x.rank, &axis));
    c.same_as(0, 0, x.dtype);
    c.out(0).dims[axis] = kDimUnknown;
  } else {
    MOTE_TRY(c.set(0, x.dtype, 1, &unknown));
  }
  const int32_t size = a.has_axis != 0 ? x.dims[axis] : element_count(x);
  return condition.dims[0] <= size ? Status(Status::kOk) : c.reject(Why::kDimMismatch, size, condition.dims[0]);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::compress
