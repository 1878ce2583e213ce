#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_max {

using Attrs = ReduceAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Gives the largest element along axes, NaN if there is one; the lowest value of the type if there are no elements.")
        .signature("x, axes? -> y")
        .inputs(1, 2)
        .types(mask_of_list(Types{}))
        .aten("aten::amax.out")
        .onnx("ReduceMax");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_max
