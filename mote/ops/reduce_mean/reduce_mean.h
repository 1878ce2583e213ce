#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_mean {

using Attrs = ReduceAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Averages the elements along axes; integers round to zero, and the mean of nothing is NaN or integer 0.")
        .signature("x, axes? -> y")
        .inputs(1, 2)
        .types(mask_of_list(Types{}))
        .aten("aten::mean.out")
        .onnx("ReduceMean");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_mean
