#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_l2 {

using Attrs = ReduceAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the square root of the sum of squares along axes; integer roots round to zero.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .onnx("ReduceL2");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_l2
