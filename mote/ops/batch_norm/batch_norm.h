#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::batch_norm {

struct Attrs {
  int32_t axis = -1;
  float epsilon = 1e-5f;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Normalises each channel by a given mean and variance, then scales and shifts it (inference form).")
                                    .signature("x, scale, bias, mean, variance -> y")
                                    .inputs(5)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .onnx("BatchNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "dimension of the channels; negative counts from the end"),
                                               attr("epsilon", &Attrs::epsilon, "added to the variance"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  const int rank = c.in(0).rank;
  int axis;
  MOTE_TRY(c.axis(a.axis, rank > 0 ? rank : 1, &axis));
  for (int i = 1; i < 5; ++i) {
    if (!c.has(i)) return c.reject(Why::kInputMissing, i, -1);
    MOTE_TRY(check_per_channel(c, i, size_along(c.in(0), axis)));
  }
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::batch_norm
