#pragma once

#include <limits>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::non_max_suppression {

struct Attrs {
  int32_t max_per_class = 0;
  float iou_threshold = 0;
  float score_threshold = -std::numeric_limits<float>::infinity();
  int32_t center_point_box = 0;
};
using Types = FloatTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Picks, for every class, the boxes of highest score that overlap none picked before by more than a threshold.")
        .signature("boxes, scores, max_per_class?, iou_threshold?, score_threshold? -> picked")
        .inputs(2, 5)
        .types(mask_of_list(Types{}))
        .ranks(3, 3)
        .flags(kDataDependent)
        .scratch(&scratch)
        .onnx("NonMaxSuppression");
inline constexpr auto kAttrs = std::make_tuple(
    attr("max_per_class", &Attrs::max_per_class,
         "boxes picked per class of an image at most; negative: all. The input of this name goes before"),
    attr("iou_threshold", &Attrs::iou_threshold, "overlap (intersection over union) above which a box is dropped; the input goes before"),
    attr("score_threshold", &Attrs::score_threshold, "only scores above it count; -inf: all but NaN. The input goes before"),
    attr("center_point_box", &Attrs::center_point_box, "0: boxes are two opposite corners y1 x1 y2 x2, 1: x_centre y_centre width height"));

// boxes (B, N, 4), scores (B, C, N) -> picked (any number, 3) s64: image, class, box; by image, class, then falling score.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  MOTE_TRY(require_rank(c, 0, 3));
  const int32_t* boxes = c.in(0).dims;
  MOTE_TRY(require_dims(c, 0, {boxes[0], boxes[1], 4}));
  MOTE_TRY(require_type(c, 1, c.in(0).dtype));
  MOTE_TRY(require_rank(c, 1, 3));
  MOTE_TRY(require_dims(c, 1, {boxes[0], c.in(1).dims[1], boxes[1]}));
  if (c.has(2)) MOTE_TRY(require_one(c, 2, kIndex));
  for (int i = 3; i < 5; ++i)
    if (c.has(i)) MOTE_TRY(require_one(c, i, mask_of(DType::f32)));
  MOTE_TRY(require_range(c, a.center_point_box, 0, 1));
  if (a.iou_threshold != a.iou_threshold || a.score_threshold != a.score_threshold) return c.reject(Why::kAttribute);
  const int32_t dims[] = {kDimUnknown, 3};
  return c.set(0, DType::s64, 2, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::non_max_suppression
