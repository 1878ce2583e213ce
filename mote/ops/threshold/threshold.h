#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::threshold {

struct Attrs {
  float threshold = 0;
  float value = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Replaces elements that are not above a threshold by a value; NaN stays NaN.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::threshold.out")
                                    .onnx("ThresholdedRelu");
inline constexpr auto kAttrs = std::make_tuple(attr("threshold", &Attrs::threshold, "elements greater than this stay"),
                                               attr("value", &Attrs::value, "what the others become"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::threshold
