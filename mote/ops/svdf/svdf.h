#pragma once

#include "mote/ops/common/activation.h"
#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::svdf {

struct Attrs {
  int32_t rank = 1;
  uint32_t activation = 0;
  float act_a = 0;
  float act_b = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Filters a stream by a low-rank product of feature and time weights, and moves its memory one step on.")
        .signature("state, x, weights_feature, weights_time, bias? -> new_state, y")
        .inputs(4, 5)
        .outputs(2)
        .types(mask_of_list(Types{}))
        .ranks(2, 2)
        .flags(kStateUpdate);
inline constexpr auto kAttrs =
    std::tuple_cat(std::make_tuple(attr("rank", &Attrs::rank, "filters that make one unit")), activation_fields<Attrs>());

// state (B, F * M), x (B, I), weights_feature (F, I), weights_time (F, M), bias (F / rank) -> new_state like state, y (B, F / rank).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const DType dtype = c.in(0).dtype;
  for (int i = 0; i < 4; ++i) {
    MOTE_TRY(require_type(c, i, dtype));
    MOTE_TRY(require_rank(c, i, 2));
  }
  const int32_t batch = c.in(1).dims[0], filters = c.in(3).dims[0], memory = c.in(3).dims[1];
  MOTE_TRY(require_dims(c, 0, {batch, int64_t{filters} * memory}));
  MOTE_TRY(require_dims(c, 2, {filters, c.in(1).dims[1]}));
  MOTE_TRY(require_range(c, a.rank, 1, 0x7fffffff));
  if (filters % a.rank != 0) return c.reject(Why::kGroups, a.rank, filters);
  if (c.has(4)) MOTE_TRY(require_operand(c, 4, dtype, {filters / a.rank}));
  MOTE_TRY(check_activation(c, a));
  c.same_as(0, 0, dtype);
  const int32_t dims[] = {batch, filters / a.rank};
  MOTE_TRY(require_elements(c, dtype, {dims[0], dims[1]}));
  return c.set(1, dtype, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::svdf
