#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::atanh {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the inverse hyperbolic tangent; -1 and 1 give infinities, what lies beyond them NaN.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::atanh.out")
                                    .onnx("Atanh");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::atanh
