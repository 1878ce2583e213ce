#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::instance_norm {

struct Attrs {
  float epsilon = 1e-5f;
};
using Types = FloatTypes;
// Below rank 2 there is no batch, and every element is a slice of its own.
inline constexpr OpInfo kInfo =
    OpInfo("Normalises each channel of each batch of (N, spatial, C) to mean 0 and variance 1, then scales and shifts it per channel.")
        .signature("x, scale?, bias? -> y")
        .inputs(1, 3)
        .types(mask_of_list(Types{}))
        .flags(kElementwise)
        .onnx("InstanceNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("epsilon", &Attrs::epsilon, "added to the variance"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  const TensorDesc& x = c.in(0);
  for (int i = 1; i < 3; ++i) MOTE_TRY(check_per_channel(c, i, size_along(x, x.rank - 1)));
  c.same_as(0, 0, x.dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::instance_norm
