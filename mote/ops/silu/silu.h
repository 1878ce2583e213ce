#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::silu {

struct Attrs {
  float alpha = 1;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies each element by its sigmoid, x / (1 + exp(-alpha * x)).")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::silu.out")
                                    .onnx("Swish");
inline constexpr auto kAttrs = std::make_tuple(attr("alpha", &Attrs::alpha, "factor inside the sigmoid"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::silu
