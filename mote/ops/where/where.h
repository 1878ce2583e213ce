#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::where {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes a where the condition is true and b elsewhere, with broadcasting.")
                                    .signature("condition, a, b -> y")
                                    .inputs(3)
                                    .types(mask_of_list(Types{}), 1)
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::where.self_out")
                                    .onnx("Where");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kBool));
  MOTE_TRY(c.require(1, kInfo.types_));
  MOTE_TRY(require_same_type(c, 2, 1));
  return c.broadcast(0, 0, 2, c.in(1).dtype);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::where
