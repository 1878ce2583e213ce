#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::bitwise_not {

using Attrs = NoAttrs;
using Types = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool>;
inline constexpr OpInfo kInfo = OpInfo("Inverts every bit of integers, and negates bool.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::bitwise_not.out")
                                    .onnx("BitwiseNot");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::bitwise_not
