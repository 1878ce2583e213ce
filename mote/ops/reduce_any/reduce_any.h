#pragma once

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_any {

using Attrs = ReduceAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells whether any element along axes is true, that is, not zero; NaN is true.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .aten("aten::any.dims_out");
inline constexpr auto kAttrs = kReduceAttrs;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_reduce(a, c, kInfo.types_, DType::boolean); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_any
