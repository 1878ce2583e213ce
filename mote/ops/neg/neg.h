#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::neg {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Negates each element; integers wrap.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::neg.out")
                                    .onnx("Neg");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::neg
