#include "mote/ops/non_max_suppression/non_max_suppression.h"

#include "mote/ops/common/score_order.h"

namespace mote::ops::non_max_suppression {
namespace {

template <class C>
struct Box {
  C y1, x1, y2, x2;

  template <class T>
  Box(const T* p, bool centre) noexcept {
    const C a = p[0], b = p[1], c = p[2], d = p[3];
    if (centre) y1 = b - d / 2, y2 = b + d / 2, x1 = a - c / 2, x2 = a + c / 2;
    else y1 = std::min(a, c), y2 = std::max(a, c), x1 = std::min(b, d), x2 = std::max(b, d);
  }
  C area() const noexcept { return (x2 - x1) * (y2 - y1); }
  bool overlaps(const Box& o, C threshold) const noexcept {
    const C width = std::min(x2, o.x2) - std::max(x1, o.x1), height = std::min(y2, o.y2) - std::max(y1, o.y1);
    if (!(width > 0) || !(height > 0)) return false;
    const C common = width * height, all = area() + o.area() - common;
    if (!(area() > 0) || !(o.area() > 0) || !(all > 0)) return false;
    return common / all > threshold;
  }
};

struct Limits {
  int64_t most;
  float iou, score;
  explicit Limits(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    most = a.max_per_class < 0 ? 0x7fffffff : a.max_per_class;
    if (c.has_input(2)) most = index_at(c.input(2), 0);
    iou = c.has_input(3) ? *c.input(3).as<const float>() : a.iou_threshold;
    score = c.has_input(4) ? *c.input(4).as<const float>() : a.score_threshold;
  }
};

template <class T>
struct NonMaxSuppression {
  using C = Compute<T>;

  // Picks boxes of one class of one image: their indices in falling score, at the start of `order`. Returns how many.
  static int32_t pick(const OpContext& c, const Limits& limits, int32_t image, int32_t cls, int32_t* order) noexcept {
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    const T* score = scores.at<const T>(image * scores.stride(0) + cls * scores.stride(1));
    const bool centre = c.attrs<Attrs>().center_point_box != 0;
    const auto box = [&](int32_t i) { return Box<C>(boxes.at<const T>(image * boxes.stride(0) + i * boxes.stride(1)), centre); };
    const bool all = limits.score == -std::numeric_limits<float>::infinity();
    int32_t count = 0;
    for (int32_t i = 0; i < boxes.dim(1); ++i) {
      const C s = score[i];
      if (s > static_cast<C>(limits.score) || (all && s == s)) order[count++] = i;
    }
    sort_by_score(order, count, [&](int32_t i) { return static_cast<C>(score[i]); });
    int32_t picked = 0;
    for (int32_t i = 0; i < count && picked < limits.most; ++i) {
      const Box<C> candidate = box(order[i]);
      bool keep = true;
      for (int32_t k = 0; k < picked && keep; ++k) keep = !candidate.overlaps(box(order[k]), limits.iou);
      if (keep) order[picked++] = order[i];
    }
    return picked;
  }

  static Status run(const OpContext& c) noexcept {
    const Limits limits(c);
    const Tensor& y = c.output(0);
    const int32_t room = c.bounds != nullptr ? c.bounds[c.operands[c.input_count]].dims[0] : y.dim(0);
    int32_t* order = reinterpret_cast<int32_t*>(c.scratch.data);
    int64_t* out = y.as<int64_t>();
    int32_t total = 0;
    for (int32_t image = 0; image < c.input(0).dim(0); ++image) {
      for (int32_t cls = 0; cls < c.input(1).dim(1); ++cls) {
        const int32_t picked = pick(c, limits, image, cls, order);
        if (picked > room - total) return {Status::kShape, Why::kBound};
        for (int32_t i = 0; i < picked; ++i, ++total) {
          out[3 * total] = image;
          out[3 * total + 1] = cls;
          out[3 * total + 2] = order[i];
        }
      }
    }
    return c.set_output_dim(0, 0, total);
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept { return scratch_numbers(static_cast<uint64_t>(c.input(0).dim(1)), DType::s32); }
KernelFn select(const OpContext& c) noexcept { return pick<OpId::non_max_suppression, NonMaxSuppression>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::non_max_suppression
