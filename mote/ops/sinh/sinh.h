#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::sinh {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the hyperbolic sine.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::sinh.out")
                                    .onnx("Sinh");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::sinh
