#pragma once

// What the losses over classes share: x (N, C, d...), target (N, d...) with the class of each position, weight (C).

#include "mote/ops/common/axis_walk.h"
#include "mote/ops/common/long_sum.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops {

enum LossReduction : int32_t { kLossNone, kLossMean, kLossSum };

struct ClassLossAttrs {
  int32_t reduction = kLossMean;
  int32_t ignore_index = -100;
};
inline constexpr auto kClassLossAttrs =
    std::make_tuple(attr("reduction", &ClassLossAttrs::reduction, "0: a loss per position, 1: their mean by weight, 2: their sum"),
                    attr("ignore_index", &ClassLossAttrs::ignore_index, "positions of this class have no loss and no weight"));

// Checks the operands and sets output 0.
inline Status infer_class_loss(const ClassLossAttrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kFloat));
  const TensorDesc& x = c.in(0);
  if (x.rank < 2) return c.reject(Why::kRank, 2, x.rank);
  MOTE_TRY(c.require(1, kIndex));
  MOTE_TRY(require_rank(c, 1, x.rank - 1));
  int32_t dims[kMaxRank];
  for (int i = 0; i + 1 < x.rank; ++i) {
    dims[i] = x.dims[i == 0 ? 0 : i + 1];
    if (c.in(1).dims[i] != dims[i]) return c.reject(Why::kDimMismatch, dims[i], c.in(1).dims[i]);
  }
  if (c.has(2)) MOTE_TRY(require_operand(c, 2, x.dtype, {x.dims[1]}));
  MOTE_TRY(require_range(c, a.reduction, kLossNone, kLossSum));
  return c.set(0, x.dtype, a.reduction == kLossNone ? x.rank - 1 : 0, dims);
}

// A descriptor of (N, d...) under the shape (N, C, d...), C steps of 0 bytes.
inline TensorDesc with_class_axis(const TensorDesc& d) noexcept {
  TensorDesc r = d;
  for (int i = d.rank; i > 1; --i) {
    r.dims[i] = d.dims[i - 1];
    r.strides[i] = d.strides[i - 1];
  }
  r.rank = static_cast<uint8_t>(d.rank + 1);
  r.dims[1] = 1;
  r.strides[1] = 0;
  return r;
}

// Reduces weight * -log_prob(k, line, stride) over the positions; k: the class of a position, line: the position's first class in x.
// visit(line, stride) runs before, for every position.
template <class T, class Visit, class LogProb>
Status class_loss(const OpContext& c, const ClassLossAttrs& a, const Visit& visit, const LogProb& log_prob) noexcept {
  using C = Compute<T>;
  const Tensor &x = c.input(0), &target = c.input(1), &y = c.output(0);
  const bool each = a.reduction == kLossNone;
  const TensorDesc target_desc = with_class_axis(*target.desc), loss_desc = each ? with_class_axis(*y.desc) : target_desc;
  AxisWalk<3> walk(*x.desc, 1, {x.desc, &target_desc, &loss_desc});
  LongSum<C> sum, weights;
  while (walk.next()) {
    const T* line = x.at<const T>(walk.offset[0]);
    visit(line, walk.stride[0]);
    const int64_t k = load_int(target.dtype(), target.at<const uint8_t>(walk.offset[1]));
    const bool ignored = k == a.ignore_index;
    if (!ignored && (k < 0 || k >= x.dim(1))) return {Status::kInvalidArgument, Why::kIndexRange};
    const C weight = ignored ? C(0) : c.has_input(2) ? C(c.input(2).template as<const T>()[k]) : C(1);
    const C loss = ignored ? C(0) : -log_prob(static_cast<int32_t>(k), line, walk.stride[0]) * weight;
    if (each) *y.at<T>(walk.offset[2]) = static_cast<T>(loss);
    sum.add(loss);
    weights.add(weight);
  }
  if (!each) *y.as<T>() = static_cast<T>(a.reduction == kLossMean ? sum.value() / weights.value() : sum.value());
  return Status::kOk;
}

}  // namespace mote::ops
