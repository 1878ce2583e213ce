// Boxes.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/op.h"
#include "mote/ops/non_max_suppression/non_max_suppression.h"

namespace mote::frontends::tflite {
namespace {

// A constant of one float.
bool known_float(Op& op, uint32_t i, const char* what, float* out) {
  const Tensor& t = op.in(i);
  if (!t.is_constant() || t.dtype != DType::f32 || t.data.size != sizeof *out) {
    op.fail(std::string(what) + ": expected a constant of one float, found " + describe(t));
    return false;
  }
  std::memcpy(out, t.data.data, sizeof *out);
  return true;
}

}  // namespace

// boxes (N, 4), scores (N), most, IoU threshold, score threshold, V5: sigma -> indices (most), V5: scores (most), how many are valid.
// What lies behind the valid ones is 0.
void import_non_max_suppression(Op& op) {
  Words w(op.b);
  const bool v5 = op.code() == BuiltinOperator::NON_MAX_SUPPRESSION_V5;
  std::vector<int64_t> most;
  ops::non_max_suppression::Attrs a;
  float sigma = 0;
  if (!op.need_ints(2, "the number of boxes", &most) || !known_float(op, 3, "the IoU threshold", &a.iou_threshold) ||
      !known_float(op, 4, "the score threshold", &a.score_threshold) || (v5 && !known_float(op, 5, "sigma", &sigma)))
    return;
  if (sigma != 0)
    return op.fail("soft suppression (sigma " + std::to_string(sigma) + ") is not supported", "convert with soft_nms_sigma=0");
  if (most.size() != 1 || most[0] < 0 || most[0] > (1 << 24)) return op.fail("expected up to 2^24 boxes, found " + describe(op.in(2)));
  const auto count = static_cast<int32_t>(most[0]);
  a.max_per_class = count;
  // Mote drops what overlaps by more than the threshold, TensorFlow Lite what overlaps by as much.
  a.iou_threshold = std::nextafter(a.iou_threshold, -std::numeric_limits<float>::infinity());
  Value* boxes = op.value(0);
  Value* scores = op.value(1);
  if (rank_of(boxes) != 2 || rank_of(scores) != 1) return op.fail("expected boxes (N, 4) and scores (N), found " + describe(op.in(0)));
  op.b.declare({ir::Type{DType::s64, {std::min(count, dims_of(boxes)[0]), 3}, 1}});
  Value* picked = op.b.op(OpId::non_max_suppression, a, {w.unsqueeze(boxes, {0}), w.unsqueeze(scores, {0, 1})});
  op.b.declare({});
  Value* index = w.squeeze(w.slice(picked, 1, 2, 3), {1});
  Value* valid = w.size_of(index, 0);
  index = w.slice(w.concat({index, w.fill(0, DType::s64, w.ints({count}))}, 0), 0, 0, count);
  op.set(0, w.cast(index, DType::s32));
  op.set(v5 ? 2 : 1, w.squeeze(w.cast(valid, DType::s32), {0}));
  if (!v5) return;
  std::vector<int64_t> places(static_cast<size_t>(count));
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  op.set(1, w.op(OpId::where, {w.op(OpId::less, {w.ints(places), valid}), w.gather(scores, index, 0), w.number(0, scores)}));
}

}  // namespace mote::frontends::tflite
