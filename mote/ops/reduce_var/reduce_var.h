#pragma once

#include <cmath>

#include "mote/ops/common/reduce.h"

namespace mote::ops::reduce_var {

struct Attrs : ReduceAttrs {
  float correction = 1;
  int32_t root = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the variance of the elements along axes, or its square root; NaN if there are none.")
                                    .signature("x, axes? -> y")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .aten("aten::var.correction_out");
inline constexpr auto kAttrs = std::tuple_cat(
    kReduceAttrs,
    std::make_tuple(attr("correction", &Attrs::correction, "subtracted from the number of elements to divide by; 1: sample, 0: population"),
                    attr("root", &Attrs::root, "1: gives the standard deviation")));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (!std::isfinite(a.correction)) return c.reject(Why::kAttribute);
  if (a.root != 0 && a.root != 1) return c.reject(Why::kAttribute, 1, a.root);
  return infer_reduce(a, c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::reduce_var
