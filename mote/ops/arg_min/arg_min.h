#pragma once

#include "mote/ops/common/arg_reduce.h"

namespace mote::ops::arg_min {

using Attrs = ArgAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Gives the position of the smallest element along an axis or of the whole tensor; NaN counts as the smallest.")
        .signature("x -> y")
        .types(mask_of_list(Types{}))
        .flags(kIntegerExact)
        .aten("aten::argmin.out")
        .onnx("ArgMin");
inline constexpr auto kAttrs = kArgAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_arg(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::arg_min
