#pragma once

#include "mote/ops/common/linear.h"

namespace mote::ops::local_response_norm {

struct Attrs {
  int32_t size = 1;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  uint32_t even_before = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Divides by (bias + alpha / size * s)^beta, s the sum of squares over `size` neighbouring channels "
                                    "(last dimension), itself included.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .ranks(1, kMaxRank)
                                    .flags(kRowRange)
                                    .onnx("LRN");
inline constexpr auto kAttrs =
    std::make_tuple(attr("size", &Attrs::size, "number of channels summed"), attr("alpha", &Attrs::alpha, "factor of the mean of squares"),
                    attr("beta", &Attrs::beta, "exponent of the divisor"), attr("bias", &Attrs::bias, "added before the power"),
                    attr("even_before", &Attrs::even_before, "where an even size has its odd channel: 0 after (ONNX), 1 before (ATen)"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  if (c.in(0).rank < 1) return c.reject(Why::kRank, 1, 0);
  if (a.size < 1) return c.reject(Why::kAttribute, 1, a.size);
  if (a.even_before > 1) return c.reject(Why::kAttribute, 1, a.even_before);
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::local_response_norm
