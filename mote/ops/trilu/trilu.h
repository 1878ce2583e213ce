#pragma once

#include "mote/ops/common/int_list.h"
#include "mote/ops/common/moves.h"

namespace mote::ops::trilu {

struct Attrs {
  int32_t upper = 1;
  int32_t k = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Keeps the upper or lower triangle of the matrices in the last two axes; the rest becomes zero.")
                                    .signature("x, k? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(2, kMaxRank)
                                    .flags(kElementwise | kIntegerExact)
                                    .onnx("Trilu");
inline constexpr auto kAttrs = std::make_tuple(
    attr("upper", &Attrs::upper, "1: keep the upper triangle, 0: the lower"),
    attr("k", &Attrs::k, "diagonal the triangle ends at: 0 is the main one, 1 the one above; not read when it is an input"));

inline Status infer(const Attrs&, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.in(0).rank < 2) return c.reject(Why::kRank, 2, c.in(0).rank);
  if (c.has(1)) MOTE_TRY(require_one(c, 1, kIndex));
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::trilu
