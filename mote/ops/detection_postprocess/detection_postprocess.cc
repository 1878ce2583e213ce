#include "mote/ops/detection_postprocess/detection_postprocess.h"

#include <limits>

#include "mote/ops/common/score_order.h"

namespace mote::ops::detection_postprocess {
namespace {

struct Box {
  float ymin, xmin, ymax, xmax;
};
struct Detection {
  float score;
  int32_t box, cls;
};

// In double, then rounded, as TFLite has it.
Box decode(const Attrs& a, const float* code, const float* anchor) noexcept {
  const double ay = anchor[0], ax = anchor[1], ah = anchor[2], aw = anchor[3];
  const float y = static_cast<float>(code[0] / static_cast<double>(a.y_scale) * ah + ay);
  const float x = static_cast<float>(code[1] / static_cast<double>(a.x_scale) * aw + ax);
  const float half_h = static_cast<float>(0.5 * std::exp(code[2] / static_cast<double>(a.h_scale)) * ah);
  const float half_w = static_cast<float>(0.5 * std::exp(code[3] / static_cast<double>(a.w_scale)) * aw);
  return {y - half_h, x - half_w, y + half_h, x + half_w};
}

float overlap(const Box& a, const Box& b) noexcept {
  const float area_a = (a.ymax - a.ymin) * (a.xmax - a.xmin), area_b = (b.ymax - b.ymin) * (b.xmax - b.xmin);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  return height * width / (area_a + area_b - height * width);
}

class PostProcess {
 public:
  explicit PostProcess(const OpContext& c) noexcept
      : c_(c), a_(c.attrs<Attrs>()), count_(c.input(0).dim(1)), offset_(c.input(1).dim(2) - a_.num_classes) {
    boxes_ = reinterpret_cast<Box*>(c.scratch.data);
    scores_ = reinterpret_cast<float*>(boxes_ + count_);
    order_ = reinterpret_cast<int32_t*>(scores_ + count_);
    kept_ = reinterpret_cast<Detection*>(order_ + count_);
  }
  static uint64_t scratch_words(uint64_t boxes, uint64_t detections) noexcept { return boxes * 6 + detections * 3; }

  Status run() noexcept {
    for (int32_t i = 0; i < count_; ++i) {
      boxes_[i] =
          decode(a_, c_.input(0).at<const float>(i * c_.input(0).stride(1)), c_.input(2).at<const float>(i * c_.input(2).stride(0)));
      if (boxes_[i].ymin > boxes_[i].ymax || boxes_[i].xmin > boxes_[i].xmax) return {Status::kInvalidArgument, Why::kValue};
    }
    for (int32_t i = 0; i < a_.max_detections * a_.max_classes_per_detection; ++i) write(i, {0, 0, 0, 0}, 0, 0);
    const int32_t count = a_.use_regular_nms != 0 ? regular() : fast();
    if (c_.has_output(3)) *c_.output(3).as<float>() = static_cast<float>(count);
    return Status::kOk;
  }

 private:
  const float* class_scores(int32_t box) const noexcept { return c_.input(1).at<const float>(box * c_.input(1).stride(1)) + offset_; }

  void write(int32_t row, const Box& box, int32_t cls, float score) const noexcept {
    if (c_.has_output(0)) {
      float* to = c_.output(0).at<float>(row * c_.output(0).stride(1));
      to[0] = box.ymin, to[1] = box.xmin, to[2] = box.ymax, to[3] = box.xmax;
    }
    if (c_.has_output(1)) c_.output(1).as<float>()[row] = static_cast<float>(cls);
    if (c_.has_output(2)) c_.output(2).as<float>()[row] = score;
  }

  // Suppresses by scores_; leaves the boxes kept at the start of order_, in falling score, and returns how many.
  int32_t suppress(int32_t most) noexcept {
    int32_t candidates = 0, kept = 0;
    for (int32_t i = 0; i < count_; ++i)
      if (scores_[i] >= a_.nms_score_threshold) order_[candidates++] = i;
    sort_by_score(order_, candidates, [this](int32_t i) { return scores_[i]; });
    for (int32_t i = 0; i < candidates && kept < most; ++i) {
      bool keep = true;
      for (int32_t k = 0; k < kept && keep; ++k) keep = !(overlap(boxes_[order_[k]], boxes_[order_[i]]) > a_.nms_iou_threshold);
      if (keep) order_[kept++] = order_[i];
    }
    return kept;
  }

  // The best class after `last` in the order of falling score, then rising index; -1 when there is none.
  int32_t next_class(const float* scores, int32_t last) const noexcept {
    int32_t best = -1;
    for (int32_t i = 0; i < a_.num_classes; ++i) {
      const bool later = last < 0 || scores[i] < scores[last] || (scores[i] == scores[last] && i > last);
      if (later && scores[i] == scores[i] && (best < 0 || scores[i] > scores[best])) best = i;
    }
    return best;
  }

  int32_t fast() noexcept {
    for (int32_t i = 0; i < count_; ++i) {
      const int32_t best = next_class(class_scores(i), -1);
      scores_[i] = best < 0 ? std::numeric_limits<float>::quiet_NaN() : class_scores(i)[best];
    }
    const int32_t kept = suppress(a_.max_detections), classes = std::min(a_.max_classes_per_detection, a_.num_classes);
    for (int32_t i = 0; i < kept; ++i) {
      const float* scores = class_scores(order_[i]);
      int32_t cls = next_class(scores, -1);
      for (int32_t k = 0; k < classes && cls >= 0; ++k, cls = next_class(scores, cls))
        write(i * a_.max_classes_per_detection + k, boxes_[order_[i]], cls, scores[cls]);
    }
    return kept;
  }

  int32_t regular() noexcept {
    int32_t total = 0;
    for (int32_t cls = 0; cls < a_.num_classes; ++cls) {
      for (int32_t i = 0; i < count_; ++i) scores_[i] = class_scores(i)[cls];
      const int32_t picked = suppress(a_.detections_per_class);
      for (int32_t i = 0; i < picked; ++i) insert({scores_[order_[i]], order_[i], cls}, &total);
    }
    for (int32_t i = 0; i < total; ++i) write(i, boxes_[kept_[i].box], kept_[i].cls, kept_[i].score);
    return total;
  }
  // Keeps the best max_detections in falling score; equal ones in the order they came.
  void insert(const Detection& d, int32_t* total) noexcept {
    int32_t at = *total;
    if (at < a_.max_detections) ++*total;
    else if (at == 0 || !(kept_[--at].score < d.score)) return;
    for (; at > 0 && kept_[at - 1].score < d.score; --at) kept_[at] = kept_[at - 1];
    kept_[at] = d;
  }

  const OpContext& c_;
  const Attrs& a_;
  const int32_t count_, offset_;
  Box* boxes_;
  float* scores_;
  int32_t* order_;
  Detection* kept_;
};

template <class T>
struct Kernel {
  static Status run(const OpContext& c) noexcept { return PostProcess(c).run(); }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  const uint64_t words =
      PostProcess::scratch_words(static_cast<uint64_t>(c.input(0).dim(1)), static_cast<uint64_t>(c.attrs<Attrs>().max_detections));
  return scratch_numbers(words, DType::f32);
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::detection_postprocess, Kernel>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::detection_postprocess
