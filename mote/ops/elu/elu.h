#pragma once

#include "mote/ops/common/elementwise.h"

namespace mote::ops::elu {

struct Attrs {
  float alpha = 1;
  float scale = 1;
  float input_scale = 1;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives scale * x where x > 0, and scale * alpha * (exp(input_scale * x) - 1) elsewhere.")
                                    .signature("x -> y")
                                    .types(mask_of_list(Types{}))
                                    .flags(kElementwise | kRowRange)
                                    .aten("aten::elu.out")
                                    .onnx("Elu, Selu, Celu");
inline constexpr auto kAttrs =
    std::make_tuple(attr("alpha", &Attrs::alpha, "minus the limit of the negative side, before scale"),
                    attr("scale", &Attrs::scale, "factor of the result; the gamma of Selu"),
                    attr("input_scale", &Attrs::input_scale, "factor inside the exponential; 1 / alpha makes it Celu"));

inline Status infer(const Attrs&, const InferContext& c) noexcept { return infer_unary(c, kInfo.types_); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::elu
