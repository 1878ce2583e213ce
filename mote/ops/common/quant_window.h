#pragma once

#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/common/window.h"

namespace mote::ops {

constexpr DTypeMask kWindowWeightTypes = kQuant8 | mask_of(DType::s4);

// infer() of quantized convolutions up to the output sizes: x (N, spatial, C), weights (O, kernel, C/groups).
template <class A>
Status check_window_product(const A& a, const InferContext& c, DTypeMask types) noexcept {
  MOTE_TRY(c.require(0, types));
  MOTE_TRY(c.require(1, kWindowWeightTypes));
  MOTE_TRY(require_spatial(c, 0));
  const TensorDesc &x = c.in(0), &w = c.in(1);
  const bool packed = w.layout != Layout::kPlain;
  if (x.layout != Layout::kPlain || (packed && (panel_shape(w.layout, w.dtype).types & mask_of(w.dtype)) == 0))
    return c.reject(Why::kLayout);
  if (w.rank != x.rank) return c.reject(Why::kRank, x.rank, w.rank);
  const int32_t channels = x.dims[x.rank - 1], out_channels = w.dims[0];
  if (a.groups < 1 || channels % a.groups != 0 || out_channels % a.groups != 0) return c.reject(Why::kGroups, channels, a.groups);
  if (w.dims[w.rank - 1] != channels / a.groups) return c.reject(Why::kDimMismatch, channels / a.groups, w.dims[w.rank - 1]);
  return check_epilogue(a, c, out_channels, x.dims[0]);
}

// Sums products under a window, forward or transposed, for every output position and channel. Weights: (O, kernel, C/groups).
template <class X, class W>
void quant_window_sums(const OpContext& c, const QuantEpilogue& epilogue, const Window& window, int32_t groups) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const Weights<W> weights(c.input(1));
  const int32_t channels = y.dim(y.rank() - 1), depth = x.dim(x.rank() - 1) / groups, per_group = channels / groups;
  const int32_t width = static_cast<int32_t>(dtype_bytes(y.dtype()));
  WindowWalk walk(window, *y.desc, c.rows);
  while (walk.next()) {
    const int32_t out = walk.output_offset(*y.desc), x_zero = epilogue.x_zero(walk.batch());
    const int32_t residual = epilogue.residual() != nullptr ? walk.output_offset(*epilogue.residual()->desc) : 0;
    for (int32_t o = 0; o < channels; ++o) {
      uint64_t sum = 0;
      const int32_t first = o / per_group * depth, w_zero = epilogue.w_zero(o);
      walk.taps([&](const Tap& t) {
        sum += quant_dot(x.at<const X>(walk.input_offset(*x.desc, t)) + first, x_zero, weights, w_zero, o, t.index * depth, depth);
      });
      epilogue.store(out + o * width, sum, walk.batch(), o, residual + o * width);
    }
  }
}

}  // namespace mote::ops
