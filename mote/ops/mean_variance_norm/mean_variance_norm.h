#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::mean_variance_norm {

struct Attrs {
  int32_t axes[8] = {};
  int32_t axis_count = 0;
  float epsilon = 1e-9f;
  uint32_t epsilon_inside = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Normalises over a set of dimensions to mean 0 and variance 1.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise)
                                    .onnx("MeanVarianceNormalization");
inline constexpr auto kAttrs = std::make_tuple(
    attr("axes", &Attrs::axes, "dimensions that are normalised together; negative ones count from the end"),
    attr("axis_count", &Attrs::axis_count, "how many entries of axes are used"),
    attr("epsilon", &Attrs::epsilon, "keeps the divisor from zero"),
    attr("epsilon_inside", &Attrs::epsilon_inside, "0: divides by deviation + epsilon; 1: by the root of variance + epsilon"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  if (a.axis_count < 0 || a.axis_count > kMaxRank || a.epsilon_inside > 1) return c.reject(Why::kAttribute, kMaxRank, a.axis_count);
  uint32_t seen = 0;
  for (int i = 0; i < a.axis_count; ++i) {
    int axis;
    MOTE_TRY(c.axis(a.axes[i], c.in(0).rank, &axis));
    if ((seen >> axis & 1) != 0) return c.reject(Why::kAxis, i, a.axes[i]);
    seen |= 1u << axis;
  }
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::mean_variance_norm
