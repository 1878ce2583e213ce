#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::floor_div {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Divides with broadcasting and rounds the exact quotient down; integer x / 0 is 0, and the lowest integer / -1 wraps.")
        .signature("a, b -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange)
        .aten("aten::floor_divide.out");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::floor_div
