#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_prod {

using Attrs = ReduceAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies the elements along axes; integers wrap, and the product of nothing is 1.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .aten("aten::prod.int_out")
                                    .onnx("ReduceProd");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_prod
