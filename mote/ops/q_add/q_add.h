#pragma once

#include "mote/ops/common/quant_binary.h"

namespace mote::ops::q_add {

using Attrs = QuantBinaryAttrs;
using Types = TypeList<int8_t, uint8_t, int16_t>;
inline constexpr OpInfo kInfo = OpInfo("Adds quantized tensors with broadcasting and rescales the result.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact);
inline constexpr auto kAttrs = kQuantBinaryFields;

inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_quant_binary(a, c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_add
