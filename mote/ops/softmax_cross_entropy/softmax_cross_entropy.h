#pragma once

#include "mote/ops/common/class_loss.h"

namespace mote::ops::softmax_cross_entropy {

using Attrs = ClassLossAttrs;
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Gives the cross entropy of target classes and the softmax of scores, and the log probabilities on request.")
        .signature("scores, target, weight? -> loss, log_prob?")
        .inputs(2, 3)
        .outputs(1, 2)
        .types(mask_of_list(Types{}))
        .ranks(2, kMaxRank)
        .onnx("SoftmaxCrossEntropyLoss");
inline constexpr auto kAttrs = kClassLossAttrs;

// scores (N, C, d...), target (N, d...), weight (C) -> loss as of nll_loss, log_prob like scores.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(infer_class_loss(a, c));
  if (c.outputs() > 1) c.same_as(1, 0, c.in(0).dtype);
  return Status::kOk;
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::softmax_cross_entropy
