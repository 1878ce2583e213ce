#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::is_nan {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells which elements are not a number.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::isnan.out")
                                    .onnx("IsNaN");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_, DType::boolean); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::is_nan
