#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::pow {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Raises a to the power of b; integers wrap, and their negative powers are 0 except those of 1 and -1.")
        .signature("a, b -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise | kRowRange)
        .aten("aten::pow.Tensor_Tensor_out")
        .onnx("Pow");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::pow
