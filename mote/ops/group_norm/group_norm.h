#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::group_norm {

struct Attrs {
  int32_t groups = 1;
  float epsilon = 1e-5f;
};
using Types = FloatTypes;
// Below rank 2 there is no batch.
inline constexpr OpInfo kInfo =
    OpInfo(
        "Normalises each group of channels of each batch of (N, spatial, C) to mean 0 and variance 1, then scales and shifts per channel.")
        .signature("x, scale?, bias? -> y")
        .inputs(1, 3)
        .types(mask_of_list(Types{}))
        .flags(kElementwise)
        .onnx("GroupNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("groups", &Attrs::groups, "groups of consecutive channels, a divisor of their number"),
                                               attr("epsilon", &Attrs::epsilon, "added to the variance"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  const TensorDesc& x = c.in(0);
  const int32_t channels = size_along(x, x.rank - 1);
  if (a.groups < 1 || channels % a.groups != 0) return c.reject(Why::kGroups, channels, a.groups);
  for (int i = 1; i < 3; ++i) MOTE_TRY(check_per_channel(c, i, channels));
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::group_norm
