#pragma once

#include <cmath>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::detection_postprocess {

struct Attrs {
  int32_t max_detections = 10;
  int32_t max_classes_per_detection = 1;
  int32_t detections_per_class = 100;
  int32_t use_regular_nms = 0;
  int32_t num_classes = 1;
  float nms_score_threshold = 0;
  float nms_iou_threshold = 0.5f;
  float y_scale = 1;
  float x_scale = 1;
  float h_scale = 1;
  float w_scale = 1;
};
using Types = TypeList<float>;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo = OpInfo(
                                    "Turns the box encodings and class scores of a single-shot detector into detections, as "
                                    "TFLite_Detection_PostProcess does; unused rows are 0.")
                                    .signature("encodings, scores, anchors -> boxes?, classes?, scores?, count?")
                                    .inputs(3)
                                    .outputs(4)
                                    .types(mask_of_list(Types{}))
                                    .ranks(3, 3)
                                    .scratch(&scratch);
inline constexpr auto kAttrs = std::make_tuple(
    attr("max_detections", &Attrs::max_detections, "boxes that are kept at most"),
    attr("max_classes_per_detection", &Attrs::max_classes_per_detection, "classes given for each box; fast suppression only"),
    attr("detections_per_class", &Attrs::detections_per_class, "boxes kept per class at most; regular suppression only"),
    attr("use_regular_nms", &Attrs::use_regular_nms, "0: boxes suppress each other by their best class, 1: within each class"),
    attr("num_classes", &Attrs::num_classes, "classes without background; scores may have one column more, in front"),
    attr("nms_score_threshold", &Attrs::nms_score_threshold, "scores below it do not count"),
    attr("nms_iou_threshold", &Attrs::nms_iou_threshold, "overlap above which a box is dropped, in (0, 1]"),
    attr("y_scale", &Attrs::y_scale, "divisor of the encoded y centre"),
    attr("x_scale", &Attrs::x_scale, "divisor of the encoded x centre"), attr("h_scale", &Attrs::h_scale, "divisor of the encoded height"),
    attr("w_scale", &Attrs::w_scale, "divisor of the encoded width"));

// encodings (1, N, 4 or more) as y x h w, scores (1, N, classes), anchors (N, 4) as y x h w
// -> boxes (1, M, 4) as ymin xmin ymax xmax, classes (1, M), scores (1, M), count (1); M = max_detections * max_classes_per_detection.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  for (int i = 0; i < 3; ++i) MOTE_TRY(c.require(i, kInfo.types_));
  MOTE_TRY(require_rank(c, 0, 3));
  MOTE_TRY(require_rank(c, 1, 3));
  const int32_t boxes = c.in(0).dims[1], coordinates = c.in(0).dims[2], columns = c.in(1).dims[2];
  MOTE_TRY(require_dims(c, 0, {1, boxes, coordinates < 4 ? 4 : coordinates}));
  MOTE_TRY(require_dims(c, 1, {1, boxes, columns}));
  MOTE_TRY(require_dims(c, 2, {boxes, 4}));
  MOTE_TRY(require_range(c, a.num_classes, 1, columns));
  if (columns - a.num_classes > 1) return c.reject(Why::kDimMismatch, a.num_classes + int64_t{1}, columns);
  MOTE_TRY(require_range(c, a.max_detections, 0, 1 << 24));
  MOTE_TRY(require_range(c, a.max_classes_per_detection, 1, 1 << 24));
  MOTE_TRY(require_range(c, a.detections_per_class, 1, 0x7fffffff));
  MOTE_TRY(require_range(c, a.use_regular_nms, 0, 1));
  if (!(a.nms_iou_threshold > 0 && a.nms_iou_threshold <= 1) || std::isnan(a.nms_score_threshold)) return c.reject(Why::kAttribute);
  for (float scale : {a.y_scale, a.x_scale, a.h_scale, a.w_scale})
    if (!(scale > 0) || !std::isfinite(scale)) return c.reject(Why::kAttribute);
  MOTE_TRY(require_elements(c, DType::f32, {a.max_detections, a.max_classes_per_detection, 4}));
  const int32_t rows = a.max_detections * a.max_classes_per_detection;
  const int32_t box_dims[] = {1, rows, 4}, one[] = {1};
  MOTE_TRY(c.set(0, DType::f32, 3, box_dims));
  MOTE_TRY(c.set(1, DType::f32, 2, box_dims));
  MOTE_TRY(c.set(2, DType::f32, 2, box_dims));
  return c.set(3, DType::f32, 1, one);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::detection_postprocess
