#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::unique {

struct Attrs {
  int32_t axis = 0;
  int32_t has_axis = 0;
  int32_t sorted = 1;
};
using Types = AllTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo("Lists the different elements, or the different slices along an axis; all NaN count as equal.")
                                    .signature("x -> y?, indices?, inverse?, counts?")
                                    .outputs(1, 4)
                                    .types(mask_of_list(Types{}))
                                    .flags(kDataDependent | kIntegerExact)
                                    .scratch(&scratch)
                                    .onnx("Unique");
inline constexpr auto kAttrs =
    std::make_tuple(attr("axis", &Attrs::axis, "axis whose slices are compared; negative counts from the end"),
                    attr("has_axis", &Attrs::has_axis, "0: compare the elements of the flattened tensor"),
                    attr("sorted", &Attrs::sorted, "1: in ascending order, 0: in the order of first occurrence"));

// indices: where each first occurs; inverse: for each element or slice its place in y; counts: how often each occurs. All s64.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  const int64_t unknown = kDimUnknown;
  int64_t slices = element_count(x);
  if (a.has_axis != 0) {
    int axis;
    MOTE_TRY(c.axis(a.axis, x.rank, &axis));
    slices = x.dims[axis];
    c.same_as(0, 0, x.dtype);
    c.out(0).dims[axis] = kDimUnknown;
  } else {
    MOTE_TRY(set_shape(c, 0, x.dtype, 1, &unknown));
  }
  if (slices > kMaxSorted) return c.reject(Why::kShapeOverflow, kMaxSorted, slices);
  for (int o = 1; o < c.outputs(); ++o) MOTE_TRY(set_shape(c, o, DType::s64, 1, o == 2 ? &slices : &unknown));
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::unique
