#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::atan2 {

using Attrs = NoAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the angle of the point (b, a) in radians, from -pi to pi.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::atan2.out");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::atan2
