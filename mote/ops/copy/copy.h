#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::copy {

using Attrs = NoAttrs;
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Copies a tensor; the copy may lie in memory with other strides.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::clone.out")
                                    .onnx("Identity");
inline constexpr auto kAttrs = std::make_tuple();

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::copy
