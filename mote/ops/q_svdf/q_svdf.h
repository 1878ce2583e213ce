#pragma once

#include "mote/ops/common/quant.h"
#include "mote/ops/common/select.h"

namespace mote::ops::q_svdf {

struct Attrs {
  int32_t rank = 1;
  int32_t input_zero = 0;
  int32_t output_zero = 0;
  int32_t feature_multiplier = 0;
  int32_t feature_shift = 0;
  int32_t time_multiplier = 0;
  int32_t time_shift = 0;
};
using Types = TypeList<int8_t>;
inline constexpr OpInfo kInfo =
    OpInfo("Filters a quantized sequence frame by frame with a low-rank time filter whose memory is the state (TFLite's SVDF).")
        .signature("state, x, feature_weights, time_weights, bias? -> state, y")
        .inputs(4, 5)
        .outputs(2)
        .types(mask_of_list(Types{}), 1)
        .ranks(2, 2)
        .flags(kStateUpdate | kIntegerExact);
inline constexpr auto kAttrs =
    std::make_tuple(attr("rank", &Attrs::rank, "filters per unit"), attr("input_zero", &Attrs::input_zero, "zero point of x"),
                    attr("output_zero", &Attrs::output_zero, "zero point of y"),
                    attr("feature_multiplier", &Attrs::feature_multiplier, "scales the product with the feature weights to the state"),
                    attr("feature_shift", &Attrs::feature_shift, "its shift"),
                    attr("time_multiplier", &Attrs::time_multiplier, "scales the product with the time weights to the output"),
                    attr("time_shift", &Attrs::time_shift, "its shift"));

// state s16 (B, filters * memory), x s8 (B, I), feature_weights s8 (filters, I), time_weights s16 (filters, memory), bias s32 (units).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, mask_of(DType::s16)));
  MOTE_TRY(c.require(1, kInfo.types_));
  MOTE_TRY(c.require(2, kInfo.types_));
  MOTE_TRY(c.require(3, mask_of(DType::s16)));
  const TensorDesc &state = c.in(0), &x = c.in(1), &feature = c.in(2), &time = c.in(3);
  for (int i = 0; i < 4; ++i)
    if (c.in(i).rank != 2) return c.reject(Why::kRank, 2, c.in(i).rank);
  const int32_t filters = feature.dims[0], memory = time.dims[1];
  if (a.rank < 1 || filters % a.rank != 0) return c.reject(Why::kAttribute, filters, a.rank);
  if (memory < 1) return c.reject(Why::kDimMismatch, 1, memory);
  if (x.dims[1] != feature.dims[1]) return c.reject(Why::kDimMismatch, x.dims[1], feature.dims[1]);
  if (time.dims[0] != filters) return c.reject(Why::kDimMismatch, filters, time.dims[0]);
  if (state.dims[0] != x.dims[0]) return c.reject(Why::kDimMismatch, x.dims[0], state.dims[0]);
  if (state.dims[1] != int64_t{filters} * memory) return c.reject(Why::kDimMismatch, int64_t{filters} * memory, state.dims[1]);
  const int32_t units = filters / a.rank;
  MOTE_TRY(check_vector(c, 4, mask_of(DType::s32), units));
  MOTE_TRY(check_zero(c, a.input_zero, DType::s8));
  MOTE_TRY(check_zero(c, a.output_zero, DType::s8));
  c.same_as(0, 0, DType::s16);
  const int32_t dims[2] = {x.dims[0], units};
  return c.set(1, DType::s8, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::q_svdf
