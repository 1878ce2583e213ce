#pragma once

#include "mote/ops/common/select.h"

namespace mote::ops::softmax {

struct Attrs {
  int32_t axis = -1;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Normalises exponentials along one axis, so that they sum to one.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise)
                                    .aten("aten::_softmax.out")
                                    .onnx("Softmax");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis to normalise; negative counts from the end"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  int axis;
  // A scalar is a tensor with one element, as in ATen.
  MOTE_TRY(c.axis(a.axis, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::softmax
