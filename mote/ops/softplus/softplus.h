#pragma once

#include <cmath>

#include "mote/ops/common/elementwise.h"

namespace mote::ops::softplus {

struct Attrs {
  float beta = 1;
  float threshold = 20;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Takes the logarithm of one plus the exponential, log(1 + exp(beta * x)) / beta.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::softplus.out")
                                    .onnx("Softplus");
inline constexpr auto kAttrs =
    std::make_tuple(attr("beta", &Attrs::beta, "sharpness of the bend; neither zero nor infinite"),
                    attr("threshold", &Attrs::threshold, "where beta * x is greater, the result is x itself; zero or less: nowhere"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (!std::isfinite(a.beta) || a.beta == 0) return c.reject(Why::kAttribute);
  return infer_unary(c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::softplus
