#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::div {

enum Rounding : int32_t { kExact = 0, kToZero = 1 };

struct Attrs {
  int32_t rounding = kExact;
};
using Types = NumberTypes;
inline constexpr OpInfo kInfo = OpInfo("Divides with broadcasting; integers round to zero, x / 0 is 0, and the lowest one / -1 wraps.")
                                    .signature("a, b -> y")
                                    .inputs(2)
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .onnx("Div");
inline constexpr auto kAttrs = std::make_tuple(attr("rounding", &Attrs::rounding, "0: none; 1: floats round to zero (integers always do)"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.rounding != kExact && a.rounding != kToZero) return c.reject(Why::kAttribute, kToZero, a.rounding);
  return infer_binary(c, kInfo.types_);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::div
