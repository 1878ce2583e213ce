#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::bitwise_and {

using Attrs = NoAttrs;
using Types = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool>;
inline constexpr OpInfo kInfo = OpInfo("Combines bits by \"and\", with broadcasting.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kCommutative | kIntegerExact)
                                    .aten("aten::bitwise_and.Tensor_out")
                                    .onnx("BitwiseAnd");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::bitwise_and
