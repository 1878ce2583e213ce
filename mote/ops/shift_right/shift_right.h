#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::shift_right {

using Attrs = NoAttrs;
using Types = IntTypes;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Shifts bits to the right by b, copying the sign of signed types; amounts that are negative or not "
                                    "below the width shift all bits out.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::bitwise_right_shift.Tensor_out")
                                    .onnx("BitShift");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_binary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::shift_right
