#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::squared_difference {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Squares the difference of two tensors, with broadcasting; integers wrap.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kCommutative);
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::squared_difference
