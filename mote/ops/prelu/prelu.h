#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::prelu {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies negative elements by a slope, with broadcasting; integers wrap.")
                                    .signature("x, slope -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .onnx("PRelu");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::prelu
