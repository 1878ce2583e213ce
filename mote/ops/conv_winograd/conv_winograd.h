#pragma once

#include "mote/ops/common/linear.h"
#include "mote/ops/common/window.h"
#include "mote/ops/common/winograd.h"

namespace mote::ops::conv_winograd {

struct Attrs {
  int32_t pads_begin[2] = {};
  int32_t pads_end[2] = {};
  uint32_t activation = 0;
  float act_a = 0;
  float act_b = 0;
};
inline constexpr OpInfo kInfo = OpInfo(
                                    "Convolves (N, H, W, C) with 3x3 windows, step 1, by Winograd's F(4x4, 3x3); weights (36 * O, C) are "
                                    "transformed, O a multiple of 16. `work` is memory to work in: what it holds afterwards means nothing.")
                                    .signature("x, weights, bias?, residual? -> y, work")
                                    .inputs(2, 4)
                                    .outputs(2)
                                    .types(mask_of(DType::f32))
                                    .ranks(4, 4)
                                    .flags(kPackedWeights);
inline constexpr auto kAttrs =
    std::tuple_cat(std::make_tuple(attr("pads_begin", &Attrs::pads_begin, "positions added before height and width"),
                                   attr("pads_end", &Attrs::pads_end, "positions added after height and width")),
                   activation_fields<Attrs>());

inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(check_weights(c));
  MOTE_TRY(require_same_type(c, 1));
  MOTE_TRY(check_activation(c, a));
  const TensorDesc &x = c.in(0), &w = c.in(1);
  MOTE_TRY(require_plain(c, 0));
  if (x.rank != 4 || w.rank != 2) return c.reject(Why::kRank, x.rank != 4 ? 4 : 2, x.rank != 4 ? x.rank : w.rank);
  if (w.dims[1] != x.dims[3]) return c.reject(Why::kDimMismatch, x.dims[3], w.dims[1]);
  if (w.dims[0] % (winograd::kPoints * 16) != 0) return c.reject(Why::kDimMismatch, winograd::kPoints * 16, w.dims[0]);
  // Working memory of even one tile must fit 32 bits.
  if (int64_t{x.dims[3]} + w.dims[0] / winograd::kPoints > (1 << 22)) return c.reject(Why::kDimMismatch, 1 << 22, x.dims[3]);
  Window window;
  window.rank = 2;
  for (int i = 0; i < 2; ++i) window.dim[i] = {x.dims[i + 1], 0, 3, 1, 1, a.pads_begin[i], a.pads_end[i]};
  MOTE_TRY(infer_window(c, false, &window));
  const int32_t outputs = w.dims[0] / winograd::kPoints;
  MOTE_TRY(check_per_channel(c, 2, outputs));
  MOTE_TRY(set_spatial(c, 0, DType::f32, x.dims[0], window, outputs));
  const int32_t floats = static_cast<int32_t>(winograd::work_floats(x.dims[3], outputs, winograd::tile_count(c.out(0).dims)));
  MOTE_TRY(c.set(1, DType::f32, 1, &floats));
  return check_residual(c, 3);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::conv_winograd
