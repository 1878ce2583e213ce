#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::leaky_relu {

struct Attrs {
  float negative_slope = 0.01f;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies negative elements by a slope and keeps the others.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::leaky_relu.out")
                                    .onnx("LeakyRelu");
inline constexpr auto kAttrs = std::make_tuple(attr("negative_slope", &Attrs::negative_slope, "factor of negative elements"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::leaky_relu
