// Sampling of images, boxes, windows that are taken back: what detection and segmentation models end with.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

// A static image (N, C, H, W) of the graph that has no size of 0.
bool image(Draw& d, Value* x, int most_channels = 64) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == d.real && v.rank() == 4 && v.is_static() && count_of(v.dims()) > 0 && v.dim(1) <= most_channels && v.most < 1e4f;
  });
  if (p != nullptr) *x = d.in(*p);
  return p != nullptr || any_shaped(d, {1, d.c.between(1, 8), d.c.between(2, 8), d.c.between(2, 8)}, x);
}

bool sample(Draw& d) {
  Value x, grid, y;
  if (!image(d, &x)) return false;
  const int n = x.dim(0);
  int h = d.c.between(1, 7), w = d.c.between(1, 7);
  static const char* const modes[] = {"linear", "nearest", "linear", "cubic"};
  static const char* const paddings[] = {"zeros", "border", "reflection"};
  const std::string mode = d.c.of(modes);
  std::string padding = d.c.of(paddings);
  const bool corners = d.c.chance(40), contrib = d.c.chance(25);
  // There ONNX's reference keeps the place within the border, ONNX Runtime (as its own domain does) the elements that are read.
  if (mode == "cubic" && padding == "border" && !contrib) padding = "zeros";
  if (d.c.chance(40)) {
    // Corners of a single element: PyTorch has its centre, ONNX Runtime -1; its documentation calls the use unintended.
    if (corners) h = std::max(h, 2), w = std::max(w, 2);
    const std::string theta = d.reals({n, 2, 3}, 0.9f);
    if (!d.node("AffineGrid", {theta, d.int64s({n, x.dim(1), h, w})}, x.type, 2, fixed({n, h, w, 2}), &grid,
                [&](Node& node) { node.i("align_corners", corners ? 1 : 0); }))
      return false;
  } else {
    grid.name = d.reals({n, h, w, 2}, 1.25f);
  }
  if (!d.node(
          "GridSample", {x.name, grid.name}, x.type, x.most * (mode == "cubic" ? 2 : 1), fixed({n, x.dim(1), h, w}), &y, [&](Node& node) {
            if (contrib) node.domain("com.microsoft");
            node.s("mode", !contrib ? mode : mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode).s("padding_mode", padding);
            node.i("align_corners", corners ? 1 : 0);
          }))
    return false;
  d.push(y);
  return true;
}

bool regions(Draw& d) {
  Value x, y;
  if (!image(d, &x)) return false;
  const int boxes = d.c.between(1, 4), h = d.c.between(1, 4), w = d.c.between(1, 4);
  const float wide = static_cast<float>(x.dim(3)), high = static_cast<float>(x.dim(2));
  const std::string rois = d.reals({boxes, 4}, 1);
  std::vector<float> corners;
  for (int i = 0; i < boxes; ++i) {
    const float left = wide * 0.125f * static_cast<float>(d.c.below(6)), top = high * 0.125f * static_cast<float>(d.c.below(6));
    corners.insert(corners.end(), {left, top, left + wide * 0.3f + 0.3f, top + high * 0.25f + 0.4f});
  }
  if (d.real != TensorProto::FLOAT) return false;
  d.set_floats(rois, corners);
  const bool most = d.c.chance(40), half = d.c.chance(50);
  if (!d.node("RoiAlign", {x.name, rois, d.integers(TensorProto::INT64, {boxes}, 0, x.dim(0) - 1)}, x.type, x.most,
              fixed({boxes, x.dim(1), h, w}), &y, [&](Node& n) {
                n.i("output_height", h).i("output_width", w).i("sampling_ratio", d.c.between(0, 2)).f("spatial_scale", 1);
                if (most) n.s("mode", "max");
                if (half) n.s("coordinate_transformation_mode", "output_half_pixel");
              }))
    return false;
  d.push(y);
  return true;
}

// Boxes are constants and scores an input: rounding picks none of them.
bool suppress(Draw& d) {
  if (d.real != TensorProto::FLOAT) return false;
  Value scores, y;
  const int boxes = d.c.between(1, 12), classes = d.c.between(1, 3);
  if (!any_shaped(d, {1, classes, boxes}, &scores, true)) return false;
  const std::string corners = d.reals({1, boxes, 4}, 2);
  std::vector<std::string> in = {corners, scores.name, d.int64s({d.c.between(0, 5)})};
  if (d.c.chance(70)) in.push_back(d.scalar(0.5f, TensorProto::FLOAT));
  if (in.size() == 4 && d.c.chance(70)) in.push_back(d.scalar(0.1f, TensorProto::FLOAT));
  if (!d.node("NonMaxSuppression", in, TensorProto::INT64, 20, fixed({1, 3}), &y, [&](Node& n) {
        if (d.c.chance(30)) n.i("center_point_box", 1);
      }))
    return false;
  y.closed = true;
  d.values.push_back(y);
  return true;
}

bool deformed(Draw& d) {
  Value x, y;
  if (!image(d, &x, 16)) return false;
  const int k = d.c.of({3, 1, 2}), pad = k / 2, out = d.c.between(1, 12), h = x.dim(2) + 2 * pad - k + 1, w = x.dim(3) + 2 * pad - k + 1;
  if (h < 1 || w < 1) return false;
  std::vector<std::string> in = {x.name, d.reals({out, x.dim(1), k, k}, 0.5f), d.reals({x.dim(0), 2 * k * k, h, w}, 1)};
  if (d.c.chance(50)) in.push_back(d.reals({out}, 0.5f));
  if (in.size() == 4 && d.c.chance(50)) in.push_back(d.reals({x.dim(0), k * k, h, w}, 0.5f, 0.5f));
  if (!d.node("DeformConv", in, x.type, x.most * static_cast<float>(k * k * x.dim(1)), fixed({x.dim(0), out, h, w}), &y, [&](Node& n) {
        n.ints("pads", {pad, pad, pad, pad}).ints("kernel_shape", {k, k});
      }))
    return false;
  d.push(y);
  return true;
}

bool windows_back(Draw& d) {
  const int h = d.c.between(2, 8), w = d.c.between(2, 8), k = d.c.between(1, 2), channels = d.c.between(1, 9), step = d.c.between(1, 2);
  const int places = ((h - k) / step + 1) * ((w - k) / step + 1);
  Value x, y;
  if (!any_shaped(d, {1, channels * k * k, places}, &x)) return false;
  if (!d.node("Col2Im", {x.name, d.int64s({h, w}), d.int64s({k, k})}, x.type, x.most * 4, fixed({1, channels, h, w}), &y, [&](Node& n) {
        n.ints("strides", {step, step});
      }))
    return false;
  d.push(y);
  return true;
}

// What a pool took the largest of goes back to where it was. Equal numbers are in an input of the graph only.
bool unpool(Draw& d) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == d.real && d.is_input(v) && v.rank() == 4 && v.is_static() && count_of(v.dims()) > 0 && v.dim(2) > 1 && v.dim(3) > 1;
  });
  if (p == nullptr) return false;
  const Value x = *p;
  std::vector<Value> outs;
  Value y;
  const Dims half = {x.dim(0), x.dim(1), x.dim(2) / 2, x.dim(3) / 2}, whole = {x.dim(0), x.dim(1), half[2] * 2, half[3] * 2};
  const auto window = [](Node& n) { n.ints("kernel_shape", {2, 2}).ints("strides", {2, 2}); };
  if (half != Dims{x.dim(0), x.dim(1), (x.dim(2) + 1) / 2, (x.dim(3) + 1) / 2}) return false;  // indices count in the whole image
  if (!d.mixed_nodes("MaxPool", {x.name}, {x.type, TensorProto::INT64}, x.most, {fixed(half), fixed(half)}, &outs, window)) return false;
  if (!d.node("MaxUnpool", {outs[0].name, outs[1].name}, x.type, x.most, fixed(whole), &y, window)) return false;
  d.push(y);
  return true;
}

bool crop(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real && v.rank() >= 2 && v.is_static() && v.rank() <= 5; });
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value y;
  Dims to = x.dims();
  if (d.c.chance(50)) {
    std::vector<int64_t> sizes;
    for (int i = x.rank() - 2; i < x.rank(); ++i) sizes.push_back(to[static_cast<size_t>(i)] = d.c.between(1, 9));
    if (!d.node("CenterCropPad", {x.name, d.int64s(sizes)}, x.type, x.most, fixed(to), &y, [](Node& n) { n.ints("axes", {-2, -1}); }))
      return false;
  } else {
    const bool turned = d.c.chance(50);
    const int time = turned ? 1 : 0, batch = 1 - time;
    if (count_of(to) == 0) return false;
    const std::string lengths = d.integers(TensorProto::INT64, {x.dim(batch)}, 1, x.dim(time));
    if (!d.node("ReverseSequence", {x.name, lengths}, x.type, x.most, same_as(x), &y,
                [&](Node& n) { n.i("time_axis", time).i("batch_axis", batch); }))
      return false;
  }
  d.push(y, &x);
  return true;
}

bool determinant(Draw& d) {
  const int n = d.c.between(1, 4), batch = d.c.between(1, 4);
  Value x, small, y;
  if (d.real != TensorProto::FLOAT || !any_shaped(d, {batch, n, n}, &x) || !within(d, x, 1, &small)) return false;
  if (!d.node("Det", {small.name}, x.type, 24, fixed({batch}), &y)) return false;
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& vision_lines();
const std::vector<Line>& vision_lines() {
  static const std::vector<Line> lines = {{sample, 5},       {regions, 3}, {suppress, 2}, {deformed, 2},
                                          {windows_back, 2}, {unpool, 3},  {crop, 4},     {determinant, 1}};
  return lines;
}

}  // namespace mote::differential
