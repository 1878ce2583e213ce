#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::sub {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Subtracts with broadcasting; integers wrap.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::sub.out")
                                    .onnx("Sub");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::sub
