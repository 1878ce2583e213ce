#pragma once

#include <cmath>

#include "mote/ops/common/elementwise.h"

namespace mote::ops::clip {

struct Attrs {
  float lo = -INFINITY;
  float hi = INFINITY;
};
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Bounds elements to [lo, hi]; NaN stays NaN, and where lo exceeds hi the result is hi.")
                                    .signature("x, lo?, hi? -> y")
                                    .inputs(1, 3)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::clamp.out")
                                    .onnx("Clip");
inline constexpr auto kAttrs =
    std::make_tuple(attr("lo", &Attrs::lo, "lower bound, unless input 1 gives it; rounded towards zero for integers"),
                    attr("hi", &Attrs::hi, "upper bound, unless input 2 gives it; rounded towards zero for integers"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (std::isnan(a.lo) || std::isnan(a.hi)) return c.reject(Why::kAttribute);
  for (int i = 1; i <= 2; ++i) {
    if (!c.has(i)) continue;
    const TensorDesc &x = c.in(0), &bound = c.in(i);
    if (bound.dtype != x.dtype) return c.reject(Why::kDTypeMismatch, static_cast<uint8_t>(x.dtype), static_cast<uint8_t>(bound.dtype));
    if (bound.rank > 1) return c.reject(Why::kRank, 0, bound.rank);
    if (bound.rank == 1 && bound.dims[0] != 1) return c.reject(Why::kDimMismatch, 1, bound.dims[0]);
  }
  return infer_unary(c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::clip
