#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::logical_not {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells which elements are zero or false; NaN is neither.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::logical_not.out")
                                    .onnx("Not");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_, DType::boolean); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::logical_not
