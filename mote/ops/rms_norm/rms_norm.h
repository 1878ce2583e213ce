#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::rms_norm {

struct Attrs {
  int32_t axis = -1;
  float epsilon = 1e-5f;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Divides the dimensions from an axis to the end by their root mean square, then scales by what broadcasts to x.")
        .signature("x, scale? -> y")
        .inputs(1, 2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise)
        .onnx("RMSNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "first normalised dimension; negative counts from the end"),
                                               attr("epsilon", &Attrs::epsilon, "added to the mean square"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  int axis;
  MOTE_TRY(c.axis(a.axis, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  MOTE_TRY(check_factor(c, 1));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::rms_norm
