#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_sum_square {

using Attrs = ReduceAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Adds the squares of the elements along axes; integers wrap.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .onnx("ReduceSumSquare");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_sum_square
