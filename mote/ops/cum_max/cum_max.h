#pragma once

#include "mote/ops/common/scan.h"

namespace mote::ops::cum_max {

struct Attrs : ScanAttrs {
  int32_t smallest = 0;
};
using Types = NumberTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Gives the running maximum along an axis and, as a second output, where it was last met; NaN stays once met.")
        .signature("x, axis? -> y?, indices?")
        .inputs(1, 2)
        .outputs(1, 2)
        .types(mask_of_list(Types{}))
        .flags(kElementwise)
        .aten("aten::cummax.out");
inline constexpr auto kAttrs =
    std::tuple_cat(kScanAttrs, std::make_tuple(attr("smallest", &Attrs::smallest, "1: gives the running minimum instead")));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.smallest != 0 && a.smallest != 1) return c.reject(Why::kAttribute, 1, a.smallest);
  MOTE_TRY(infer_scan(a, c, kInfo.types_));
  if (c.outputs() < 2) return Status::kOk;
  // The maximum of no elements has no position.
  if (a.exclusive != 0) return c.reject(Why::kAttribute, 0, a.exclusive);
  c.same_as(1, 0, DType::s64);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::cum_max
