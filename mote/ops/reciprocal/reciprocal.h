#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::reciprocal {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Divides one by each element; zero gives an infinity of its sign.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::reciprocal.out")
                                    .onnx("Reciprocal");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reciprocal
