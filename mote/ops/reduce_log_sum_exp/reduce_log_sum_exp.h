#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_log_sum_exp {

using Attrs = ReduceAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Gives the logarithm of the sum of the exponentials along axes, without overflow; -inf if there are no elements.")
        .signature("x, axes? -> y")
        .inputs(1, 2)
        .types(mask_of_list(Types{}))
        .aten("aten::logsumexp.out")
        .onnx("ReduceLogSumExp");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_log_sum_exp
