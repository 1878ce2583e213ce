// Boxes.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tflite/op.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/common/arg_reduce.h"
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

// Thresholds and the like of one NON_MAX_SUPPRESSION.
struct Suppression {
  int32_t most = 0;
  float iou = 0, score = 0, sigma = 0;
};

// Boxes as one vector for each border, and their areas.
struct Boxes {
  Value *top, *left, *bottom, *right, *area;
};

Boxes borders_of(Words& w, Value* boxes) {
  const auto column = [&](int i) { return w.squeeze(w.slice(boxes, 1, i, i + 1), {1}); };
  Value *y1 = column(0), *x1 = column(1), *y2 = column(2), *x2 = column(3);
  Boxes b{w.op(OpId::minimum, {y1, y2}), w.op(OpId::minimum, {x1, x2}), w.op(OpId::maximum, {y1, y2}), w.op(OpId::maximum, {x1, x2}),
          nullptr};
  b.area = w.mul(w.sub(b.bottom, b.top), w.sub(b.right, b.left));
  return b;
}

// How much box `i` overlaps each of them: intersection over union.
Value* overlaps(Words& w, const Boxes& b, Value* i) {
  const auto one = [&](Value* v) { return w.gather(v, i, 0); };
  Value* zero = w.number(0, DType::f32);
  Value* height = w.sub(w.op(OpId::minimum, {b.bottom, one(b.bottom)}), w.op(OpId::maximum, {b.top, one(b.top)}));
  Value* width = w.sub(w.op(OpId::minimum, {b.right, one(b.right)}), w.op(OpId::maximum, {b.left, one(b.left)}));
  Value* both = w.mul(w.op(OpId::maximum, {height, zero}), w.op(OpId::maximum, {width, zero}));
  Value* either = w.sub(w.add(b.area, one(b.area)), both);
  return w.op(OpId::where, {w.op(OpId::greater, {both, zero}), w.div(both, either), zero});
}

// Takes the best box, lowers the scores of all by how much they overlap it, and again: a loop whose trips give index, score and whether
// there still was one.
std::vector<Value*> pick_softly(Op& op, Value* boxes, Value* scores, const Suppression& s) {
  ir::Graph& g = op.b.graph();
  Words w(op.b);
  const Boxes borders = borders_of(w, boxes);
  Value* limit = w.number(static_cast<double>(s.score), DType::f32);
  Value* candidates = w.reduce(OpId::reduce_sum, w.cast(w.op(OpId::greater, {scores, limit}), DType::s64), {0}, false);
  if (!op.ok()) return {};
  ir::Node* loop = g.add_node(op.b.block(), ir::kLoop, nullptr, 0, {g.scalar<int64_t>(s.most), nullptr, scores}, 4, op.b.name());
  loop->max_trips = s.most;
  ir::Block& block = g.add_block(loop);
  Value* trip = g.add_argument(block, "", {DType::s64, {}, 0});
  Value* go_on = g.add_argument(block, "", {DType::boolean, {}, 0});
  Value* now = g.add_argument(block, "", scores->type, scores->facts);
  ir::NodeBuilder inner(g, block, op.b.name());
  Words b(inner);
  ops::ArgAttrs first;
  first.keep_dims = 0;
  Value* best = inner.op(OpId::arg_max, first, {now});
  Value* score = b.gather(now, best, 0);
  Value* valid = b.op(OpId::logical_and, {b.op(OpId::greater, {score, limit}), b.op(OpId::less, {trip, candidates})});
  Value* iou = overlaps(b, borders, best);
  Value* less = b.op(OpId::exp, {b.mul(b.mul(iou, b.number(static_cast<double>(-0.5f / s.sigma), DType::f32)), iou)});
  Value* gone = b.op(OpId::greater_equal, {iou, b.number(static_cast<double>(s.iou), DType::f32)});
  Value* none = b.number(-std::numeric_limits<double>::infinity(), DType::f32);
  Value* next = b.op(OpId::where, {gone, none, b.mul(now, less)});
  std::string error;
  if (inner.ok())
    for (Value* v : {go_on, next, best, score, valid}) g.add_result(block, v);
  if (!inner.ok() || !ir::infer(*loop, &error)) {
    op.fail(inner.ok() ? error : inner.error());
    return {};
  }
  return {loop->outputs.begin() + 1, loop->outputs.end()};
}

void suppress_softly(Op& op, const Suppression& s) {
  Value *boxes = op.value(0), *scores = op.value(1);
  if (rank_of(boxes) != 2 || rank_of(scores) != 1 || dims_of(boxes)[0] < 1 || dims_of(boxes)[0] != dims_of(scores)[0] ||
      dims_of(boxes)[1] != 4 || s.most < 1 || !(s.sigma > 0))
    return op.fail("expected boxes (N, 4) and scores (N) of at least one box, and a sigma above 0; found " + describe(op.in(0)));
  const std::vector<Value*> picked = pick_softly(op, boxes, scores, s);
  if (!op.ok()) return;
  Words w(op.b);
  op.set(0, w.cast(w.op(OpId::where, {picked[2], picked[0], w.number(0, picked[0])}), DType::s32));
  op.set(1, w.op(OpId::where, {picked[2], picked[1], w.number(0, DType::f32)}));
  op.set(2, w.reduce(OpId::reduce_sum, w.cast(picked[2], DType::s32), {0}, false));
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
  if (most.size() != 1 || most[0] < 0 || most[0] > (1 << 24)) return op.fail("expected up to 2^24 boxes, found " + describe(op.in(2)));
  const auto count = static_cast<int32_t>(most[0]);
  if (sigma != 0) return suppress_softly(op, {count, a.iou_threshold, a.score_threshold, sigma});
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
