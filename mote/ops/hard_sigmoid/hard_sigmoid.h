#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::hard_sigmoid {

struct Attrs {
  float alpha = 1.0f / 6;
  float beta = 0.5f;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Bounds a straight line to [0, 1]: clip(alpha * x + beta, 0, 1).")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::hardsigmoid.out")
                                    .onnx("HardSigmoid");
inline constexpr auto kAttrs =
    std::make_tuple(attr("alpha", &Attrs::alpha, "slope; 1/6 as in ATen, where ONNX means 0.2 when it says nothing"),
                    attr("beta", &Attrs::beta, "value at zero"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::hard_sigmoid
