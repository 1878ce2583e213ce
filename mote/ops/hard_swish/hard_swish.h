#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::hard_swish {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies each element by a straight-line sigmoid, x * clip(x + 3, 0, 6) / 6.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::hardswish.out")
                                    .onnx("HardSwish");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::hard_swish
