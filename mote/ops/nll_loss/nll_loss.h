#pragma once

#include "mote/ops/common/class_loss.h"

namespace mote::ops::nll_loss {

using Attrs = ClassLossAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Gives the negative log likelihood of target classes, from log probabilities.")
                                    .signature("log_prob, target, weight? -> loss")
                                    .inputs(2, 3)
                                    .types(mask_of_list(Types{}))
                                    .ranks(2, kMaxRank)
                                    .onnx("NegativeLogLikelihoodLoss");
inline constexpr auto kAttrs = kClassLossAttrs;

// log_prob (N, C, d...), target (N, d...) s32 or s64, weight (C) -> scalar, or (N, d...) without reduction. A mean of nothing is NaN.
inline Status infer(const Attrs& a, const InferContext& c) noexcept { return infer_class_loss(a, c); }
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::nll_loss
