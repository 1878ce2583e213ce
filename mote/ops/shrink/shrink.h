#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::shrink {

struct Attrs {
  float lambd = 0.5f;
  float bias = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Sets elements near zero to zero and moves the others towards it by bias; NaN stays NaN.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .onnx("Shrink");
inline constexpr auto kAttrs = std::make_tuple(attr("lambd", &Attrs::lambd, "elements in [-lambd, lambd] become zero"),
                                               attr("bias", &Attrs::bias, "what the others lose: 0 is a hard shrink, lambd a soft one"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::shrink
