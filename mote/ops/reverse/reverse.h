#pragma once

#include "mote/ops/common/moves.h"

namespace mote::ops::reverse {

struct Attrs {
  int32_t axes[8] = {};
  int32_t count = 0;
};
using Types = AllTypes;
inline constexpr OpInfo kInfo = OpInfo("Turns the order of the elements around along some axes.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kIntegerExact)
                                    .aten("aten::flip.out");
inline constexpr auto kAttrs = std::make_tuple(attr("axes", &Attrs::axes, "axes to turn around; negative counts from the end"),
                                               attr("count", &Attrs::count, "how many of axes count"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (a.count < 0 || a.count > kMaxRank) return c.reject(Why::kAttribute, kMaxRank, a.count);
  uint32_t seen = 0;
  for (int k = 0; k < a.count; ++k) {
    int axis;
    MOTE_TRY(c.axis(a.axes[k], c.in(0).rank, &axis));
    if ((seen >> axis & 1) != 0) return c.reject(Why::kAxis, c.in(0).rank, a.axes[k]);
    seen |= 1u << axis;
  }
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reverse
