#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::not_equal {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells which elements of two tensors differ, with broadcasting; NaN differs from everything.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kCommutative | kIntegerExact)
                                    .aten("aten::ne.Tensor_out");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_, DType::boolean); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::not_equal
