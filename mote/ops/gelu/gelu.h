#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::gelu {

struct Attrs {
  int32_t approximate = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Multiplies each element by the normal distribution function at it.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::gelu.out")
                                    .onnx("Gelu");
inline constexpr auto kAttrs =
    std::make_tuple(attr("approximate", &Attrs::approximate, "0: by the error function; 1: by the tanh formula"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.approximate != 0 && a.approximate != 1) return c.reject(Why::kAttribute, 1, a.approximate);
  return infer_unary(c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::gelu
