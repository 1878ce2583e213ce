#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::greater {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells where a is greater than b, with broadcasting; false where either is NaN.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::gt.Tensor_out")
                                    .onnx("Greater");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_, DType::boolean); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::greater
