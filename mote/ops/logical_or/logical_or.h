#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::logical_or {

using Attrs = NoAttrs;
using Types = TypeList<bool>;
inline constexpr OpInfo kInfo = OpInfo("Tells where at least one input is true, with broadcasting.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kCommutative | kIntegerExact)
                                    .aten("aten::logical_or.out")
                                    .onnx("Or");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::logical_or
