#pragma once

#include <cmath>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::roi_align {

struct Attrs {
  int32_t out_height = 1;
  int32_t out_width = 1;
  int32_t sampling_ratio = 0;
  float spatial_scale = 1;
  int32_t mode = 0;
  int32_t half_pixel = 1;
};
constexpr int32_t kMaxSamples = 1024;  // of a bin in each dimension
using Types = FloatTypes;
inline constexpr OpInfo kInfo = OpInfo("Pools boxes of a feature map to one size by bilinear samples; a box that is not finite gives 0.")
                                    .signature("x, boxes, batch_indices -> y")
                                    .inputs(3)
                                    .types(mask_of_list(Types{}))
                                    .ranks(4, 4)
                                    .onnx("RoiAlign");
inline constexpr auto kAttrs =
    std::make_tuple(attr("out_height", &Attrs::out_height, "rows of bins"), attr("out_width", &Attrs::out_width, "columns of bins"),
                    attr("sampling_ratio", &Attrs::sampling_ratio,
                         "samples per bin in each dimension, at most 1024; 0: as many as input elements, rounded up"),
                    attr("spatial_scale", &Attrs::spatial_scale, "factor from box coordinates to those of x"),
                    attr("mode", &Attrs::mode, "0 mean of the samples, 1 largest of their weighted corners (as ONNX has it)"),
                    attr("half_pixel", &Attrs::half_pixel, "1: boxes are shifted by -0.5; 0: not, and are at least 1 x 1"));

// x (N, H, W, C), boxes (R, 4) as x1 y1 x2 y2, batch_indices (R) -> (R, out_height, out_width, C).
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_rank(c, 0, 4));
  const DType dtype = c.in(0).dtype;
  MOTE_TRY(require_type(c, 1, dtype));
  MOTE_TRY(require_rank(c, 1, 2));
  const int32_t boxes = c.in(1).dims[0];
  MOTE_TRY(require_dims(c, 1, {boxes, 4}));
  MOTE_TRY(c.require(2, kIndex));
  MOTE_TRY(require_dims(c, 2, {boxes}));
  MOTE_TRY(require_range(c, a.out_height, 1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.out_width, 1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.sampling_ratio, 0, kMaxSamples));
  MOTE_TRY(require_range(c, a.mode, 0, 1));
  MOTE_TRY(require_range(c, a.half_pixel, 0, 1));
  if (!std::isfinite(a.spatial_scale)) return c.reject(Why::kAttribute);
  const int32_t dims[] = {boxes, a.out_height, a.out_width, c.in(0).dims[3]};
  MOTE_TRY(require_elements(c, dtype, {dims[0], dims[1], dims[2], dims[3]}));
  return c.set(0, dtype, 4, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::roi_align
