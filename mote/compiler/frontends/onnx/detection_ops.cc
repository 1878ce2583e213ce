#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/grid_sample/grid_sample.h"
#include "mote/ops/non_max_suppression/non_max_suppression.h"

namespace mote::frontends::onnx {
namespace {

void import_nms(NodeContext& c) {
  ops::non_max_suppression::Attrs a;
  a.center_point_box = c.attr_int("center_point_box", 0) != 0 ? 1 : 0;
  const ir::Dims boxes = dims_of(c.in(0)), scores = dims_of(c.in(1));
  if (boxes.size() != 3 || scores.size() != 3) return c.fail("expected boxes and scores of rank 3");
  // All boxes of all classes are the most that can be picked.
  std::vector<int64_t> most;
  int64_t per_class = boxes[1];
  if (c.in(2) == nullptr) per_class = 0;
  else if (ir::known_ints(*c.in(2), &most) && most.size() == 1) per_class = std::clamp<int64_t>(most[0], 0, boxes[1]);
  const int64_t bound = std::min<int64_t>(int64_t{scores[0]} * scores[1], INT32_MAX / std::max<int64_t>(per_class, 1)) * per_class;
  auto declared = c.declared(0);
  if (!declared.has_value() || declared->rank() != 2) declared = ir::Type{DType::s64, {kDimUnknown, 3}, 1};
  if (declared->dims[0] < 0) declared->dims[0] = static_cast<int32_t>(bound);
  c.b.declare({declared});
  c.out(0, c.b.op(OpId::non_max_suppression, a, {c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)}));
}

// --- DeformConv: the windows' positions are moved, sampled, and multiplied with the weights ---

constexpr int64_t kMaxPlaces = 1 << 22;

struct DeformShape {
  int64_t n = 0, channels = 0, h = 0, w = 0, out_channels = 0, out_h = 0, out_w = 0, taps = 0, groups = 1, offset_groups = 1;
};

bool read_deform(NodeContext& c, WindowSpec* win, DeformShape* s) {
  const ir::Dims x = dims_of(c.in(0)), w = dims_of(c.in(1)), o = dims_of(c.in(2));
  if (x.size() != 4 || w.size() != 4 || o.size() != 4 || !c.in(0)->type.is_static() || !c.in(2)->type.is_static()) {
    c.fail("expected images of rank 4 and of fixed size");
    return false;
  }
  std::vector<int64_t> kernel = c.attr_ints("kernel_shape");
  if (kernel.empty()) kernel = {w[2], w[3]};
  if (!read_window(c, c.in(0), kernel, win)) return false;
  *s = {x[0],
        x[1],
        x[2],
        x[3],
        w[0],
        o[2],
        o[3],
        int64_t{win->kernel[0]} * win->kernel[1],
        c.attr_int("group", 1),
        c.attr_int("offset_group", 1)};
  const bool fits = s->groups > 0 && s->offset_groups > 0 && s->channels % s->groups == 0 && s->out_channels % s->groups == 0 &&
                    s->channels % s->offset_groups == 0 && o[1] == s->offset_groups * s->taps * 2 && w[1] == s->channels / s->groups &&
                    s->h > 0 && s->w > 0;
  if (!fits) c.fail("its groups, channels and offsets do not fit each other");
  else if (s->taps * std::max(s->out_h, s->out_w) > kMaxPlaces) c.fail("has too many windows");
  return c.b.ok();
}

// Where each tap of each window lies without an offset, (1, taps, 1, out) along one dimension.
Value* tap_places(Decompose& d, const WindowSpec& win, const DeformShape& s, int dim) {
  const int64_t out = dim == 0 ? s.out_h : s.out_w;
  std::vector<float> at;
  for (int64_t t = 0; t < s.taps; ++t) {
    const int64_t k = dim == 0 ? t / win.kernel[1] : t % win.kernel[1];
    for (int64_t i = 0; i < out; ++i) at.push_back(static_cast<float>(i * win.strides[dim] - win.begin[dim] + k * win.dilations[dim]));
  }
  const int32_t taps = static_cast<int32_t>(s.taps), size = static_cast<int32_t>(out);
  return d.b.graph().constant<float>(dim == 0 ? ir::Dims{1, taps, size, 1} : ir::Dims{1, taps, 1, size}, at);
}

Value* sample(Decompose& d, const WindowSpec& win, const DeformShape& s) {
  const int64_t batch = s.n * s.offset_groups;
  Value* offsets = d.reshape(d.c.in(2), {batch, s.taps, 2, s.out_h, s.out_w});
  Value* place[2];
  for (int dim = 0; dim < 2; ++dim) {  // as grid_sample counts: -1 and 1 are the outer edges
    Value* moved = d.add(d.squeeze(d.slice(offsets, 2, dim, dim + 1), {2}), d.cast(tap_places(d, win, s, dim), dtype_of_value(offsets)));
    const double size = static_cast<double>(dim == 0 ? s.h : s.w);
    place[dim] = d.reshape(d.add(d.mul(moved, 2 / size), 1 / size - 1), {batch, s.taps * s.out_h, s.out_w, 1});
  }
  ops::grid_sample::Attrs a;
  Value* grid = d.concat({place[1], place[0]}, 3);
  Value* x = d.channels_last(d.reshape(d.c.in(0), {batch, s.channels / s.offset_groups, s.h, s.w}));
  if (!d.b.ok()) return nullptr;
  Value* y = d.channels_first(d.b.op(OpId::grid_sample, a, {x, grid}));  // (batch, channels, taps * out_h, out_w)
  if (d.c.in(4) != nullptr) y = d.mul(y, d.reshape(d.c.in(4), {batch, 1, s.taps * s.out_h, s.out_w}));
  return y;
}

void import_deform_conv(NodeContext& c) {
  Decompose d(c);
  WindowSpec win;
  DeformShape s;
  if (!read_deform(c, &win, &s)) return;
  const int64_t inner = s.channels / s.groups * s.taps, positions = s.out_h * s.out_w;
  Value* windows = d.reshape(sample(d, win, s), {s.n, s.groups, inner, positions});
  Value* weights = d.reshape(c.in(1), {1, s.groups, s.out_channels / s.groups, inner});
  Value* y = d.reshape(d.matmul(weights, windows), {s.n, s.out_channels, s.out_h, s.out_w});
  if (c.in(3) != nullptr) y = d.add(y, d.reshape(c.in(3), {1, s.out_channels, 1, 1}));
  c.out(0, y);
}

}  // namespace

void add_detection_ops(OpTable& table);
void add_detection_ops(OpTable& table) {
  add_lines(table,
            {{"NonMaxSuppression", import_nms, 10, 2}, {"DeformConv", import_deform_conv, 19, 3}, {"Det", import_plain<OpId::det, 1>}});
}

}  // namespace mote::frontends::onnx
