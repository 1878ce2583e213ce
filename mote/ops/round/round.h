#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::round {

using Attrs = NoAttrs;
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Rounds to the nearest integer, halves to the even one; integers are unchanged.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::round.out")
                                    .onnx("Round");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::round
