#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_sum {

using Attrs = ReduceAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Adds the elements along axes; integers wrap, and nothing sums to 0.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .aten("aten::sum.IntList_out")
                                    .onnx("ReduceSum");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_sum
