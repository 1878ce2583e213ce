#pragma once

#include "mote/ops/common/normalize.h"

namespace mote::ops::lp_norm {

struct Attrs {
  int32_t axis = -1;
  float p = 2;
  float epsilon = 0;
  uint32_t epsilon_mode = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Divides by the p-norm along one axis; where the divisor is 0, gives 0.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise)
                                    .onnx("LpNormalization");
inline constexpr auto kAttrs = std::make_tuple(attr("axis", &Attrs::axis, "axis of the norm; negative counts from the end"),
                                               attr("p", &Attrs::p, "order of the norm, finite and above 0"),
                                               attr("epsilon", &Attrs::epsilon, "keeps the divisor from zero, as epsilon_mode says"),
                                               attr("epsilon_mode", &Attrs::epsilon_mode,
                                                    "0: divides by max(norm, epsilon) (ATen normalize, TFLite); 1: takes the root of "
                                                    "max(sum, epsilon) (TensorFlow); 2: of sum + epsilon"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_epsilon(c, a.epsilon));
  int axis;
  MOTE_TRY(c.axis(a.axis, c.in(0).rank > 0 ? c.in(0).rank : 1, &axis));
  if (!(a.p > 0 && a.p < 1e9f)) return c.reject(Why::kAttribute);
  if (a.epsilon_mode > 2) return c.reject(Why::kAttribute, 2, a.epsilon_mode);
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::lp_norm
