#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::every_nth {

struct Attrs {
  int32_t count = 1;
};
using Types = TypeList<int32_t>;
inline constexpr OpInfo kInfo = OpInfo("Counts its calls and says of each count-th that it is due: for what need not be done in every run.")
                                    .signature("counter -> counter, due")
                                    .outputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs = std::make_tuple(attr("count", &Attrs::count, "calls from one that is due to the next"));

// counter s32: calls since the last one that was due, of each element. due bool, of the same shape.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_range(c, a.count, 1, 0x7fffffff));
  c.same_as(0, 0, DType::s32);
  c.same_as(1, 0, DType::boolean);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::every_nth
