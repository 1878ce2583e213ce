#pragma once

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::affine_grid {

struct Attrs {
  int32_t align_corners = 0;
  int32_t sizes[3] = {};
};
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Makes the sampling grid of an affine map, for grid_sample.")
                                    .signature("theta, size? -> grid")
                                    .inputs(1, 2)
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 3)
                                    .onnx("AffineGrid");
inline constexpr auto kAttrs = std::make_tuple(
    attr("align_corners", &Attrs::align_corners, "-1 and 1 are 1: the centres of the outermost elements, 0: their outer edges"),
    attr("sizes", &Attrs::sizes, "spatial sizes (h, w) or (d, h, w) where input `size` is absent"));

// theta (N, 2, 3) -> grid (N, h, w, 2); theta (N, 3, 4) -> grid (N, d, h, w, 3). Input size: (N, C, h, w) or (N, C, d, h, w).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_rank(c, 0, 3));
  const int32_t* theta = c.in(0).dims;
  const int spatial = theta[1] == 3 ? 3 : 2;
  MOTE_TRY(require_dims(c, 0, {theta[0], spatial, spatial + 1}));
  MOTE_TRY(require_range(c, a.align_corners, 0, 1));
  if (c.has(1)) {
    MOTE_TRY(c.require(1, kIndex));
    MOTE_TRY(require_dims(c, 1, {2 + spatial}));
    if (c.known(1) && c.value(1, 0) != theta[0]) return c.reject(Why::kDimMismatch, theta[0], c.value(1, 0));
  }
  int32_t dims[5] = {theta[0]};
  for (int i = 0; i < spatial; ++i) {
    dims[1 + i] = a.sizes[i];
    if (c.has(1)) dims[1 + i] = c.known(1) ? c.value(1, 2 + i) : kDimUnknown;
    if ((!c.has(1) || c.known(1)) && dims[1 + i] < 0) return c.reject(Why::kNegativeDim, 0, dims[1 + i]);
  }
  dims[1 + spatial] = spatial;
  MOTE_TRY(require_elements(c, c.in(0).dtype, {dims[0], dims[1], dims[2], dims[3], dims[4]}));
  return c.set(0, c.in(0).dtype, 2 + spatial, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::affine_grid
