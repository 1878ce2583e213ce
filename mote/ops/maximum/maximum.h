#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::maximum {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the larger of two elements, with broadcasting; NaN if either is NaN.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kCommutative)
                                    .aten("aten::maximum.out")
                                    .onnx("Max");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::maximum
