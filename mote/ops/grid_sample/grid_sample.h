#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::grid_sample {

enum Mode : int32_t { kLinear, kNearest, kCubic };
enum Padding : int32_t { kZeros, kBorder, kReflection, kBorderTaps, kReflectionFirst };

struct Attrs {
  int32_t mode = kLinear;
  int32_t padding = kZeros;
  int32_t align_corners = 0;
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo =
    OpInfo("Samples a channels-last image or volume at the places a grid gives, from -1 to 1 in each dimension.")
        .signature("x, grid -> y")
        .inputs(2)
        .types(mask_of_list(Types{}))
        .ranks(4, 5)
        .onnx("GridSample");
inline constexpr auto kAttrs = std::make_tuple(
    attr("mode", &Attrs::mode, "0 linear, 1 nearest (ties to even), 2 cubic"),
    attr("padding", &Attrs::padding,
         "outside of x: 0 zeros, 1 the border, 2 reflection, 3 the border for each element of a sample, not for its place, 4 reflection "
         "before a place is rounded"),
    attr("align_corners", &Attrs::align_corners, "-1 and 1 are 1: the centres of the outermost elements, 0: their outer edges"));

// x (N, H, W, C) with grid (N, h, w, 2), or x (N, D, H, W, C) with grid (N, d, h, w, 3); grid places are ordered x, y, z.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank != 4 && x.rank != 5) return c.reject(Why::kRank, 4, x.rank);
  MOTE_TRY(require_type(c, 1, x.dtype));
  MOTE_TRY(require_rank(c, 1, x.rank));
  const TensorDesc& g = c.in(1);
  if (g.dims[0] != x.dims[0]) return c.reject(Why::kDimMismatch, x.dims[0], g.dims[0]);
  if (g.dims[g.rank - 1] != x.rank - 2) return c.reject(Why::kDimMismatch, x.rank - 2, g.dims[g.rank - 1]);
  MOTE_TRY(require_range(c, a.mode, kLinear, kCubic));
  MOTE_TRY(require_range(c, a.padding, kZeros, kReflectionFirst));
  MOTE_TRY(require_range(c, a.align_corners, 0, 1));
  int32_t dims[5];
  for (int i = 0; i + 1 < x.rank; ++i) dims[i] = g.dims[i];
  dims[x.rank - 1] = x.dims[x.rank - 1];
  for (int i = 1; i + 1 < x.rank; ++i)
    if (x.dims[i] == 0) return c.reject(Why::kDimMismatch, 1, 0);
  MOTE_TRY(require_elements(c, x.dtype, {dims[0], dims[1], dims[2], dims[3], x.rank == 5 ? dims[4] : 1}));
  return c.set(0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::grid_sample
