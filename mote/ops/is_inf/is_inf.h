#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::is_inf {

struct Attrs {
  int32_t detect_negative = 1;
  int32_t detect_positive = 1;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Tells which elements are infinite.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange | kIntegerExact)
                                    .aten("aten::isinf.out")
                                    .onnx("IsInf");
inline constexpr auto kAttrs = std::make_tuple(attr("detect_negative", &Attrs::detect_negative, "1: minus infinity counts; 0: it does not"),
                                               attr("detect_positive", &Attrs::detect_positive, "1: plus infinity counts; 0: it does not"));

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  if (a.detect_negative != 0 && a.detect_negative != 1) return c.reject(Why::kAttribute, 1, a.detect_negative);
  if (a.detect_positive != 0 && a.detect_positive != 1) return c.reject(Why::kAttribute, 1, a.detect_positive);
  return infer_unary(c, kInfo.types_, DType::boolean);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::is_inf
