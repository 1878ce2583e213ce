#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/ops/affine_grid/affine_grid.h"
#include "mote/ops/grid_sample/grid_sample.h"
#include "mote/ops/resize/resize.h"

namespace mote::frontends::onnx {
namespace {

using ops::resize::Attrs;

// What is asked for along one dimension. Neither: it stays as it is.
struct AxisSize {
  float scale = 0;
  int64_t size = -1;
  float roi_start = 0, roi_end = 1;
};

struct ResizeInputs {
  Value *roi = nullptr, *scales = nullptr, *sizes = nullptr;
  std::vector<float> scale_attribute;  // Upsample's, before opset 9
  std::vector<int> axes;               // that the lists run over
};

int choice(NodeContext& c, const char* name, const std::string& otherwise, const std::vector<std::string>& names) {
  const std::string given = c.attr_string(name, otherwise);
  const auto it = std::find(names.begin(), names.end(), given);
  if (it == names.end()) c.fail(std::string(name) + ": '" + given + "' is unknown");
  return static_cast<int>(it - names.begin());
}

Attrs read_attributes(NodeContext& c, bool old) {
  Attrs a;
  a.places = ops::resize::kAsOnnxRuntime;
  const std::string mode = c.attr_string("mode", "nearest");
  a.mode = mode == "nearest" ? 0 : mode == "linear" || mode == "bilinear" ? 1 : mode == "cubic" ? 2 : -1;
  if (a.mode < 0) c.fail("mode: expected nearest, linear or cubic, found " + mode);
  if (old) {  // Upsample and the first Resize: no offsets, and nearest cuts off
    a.coordinates = ops::resize::kAsymmetric;
    a.nearest = ops::resize::kFloor;
    return a;
  }
  a.coordinates = choice(c, "coordinate_transformation_mode", "half_pixel",
                         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
                          "tf_crop_and_resize"});
  a.nearest = choice(c, "nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  a.antialias = a.mode != 0 && c.attr_int("antialias", 0) != 0 ? 1 : 0;
  a.exclude_outside = c.attr_int("exclude_outside", 0) != 0 ? 1 : 0;
  a.cubic_a = c.attr_float("cubic_coeff_a", -0.75f);
  a.extrapolation = c.attr_float("extrapolation_value", 0);
  return a;
}

// Empty inputs count as absent (exporters write them for what they do not use).
Value* given(Value* v) { return v == nullptr || (rank_of(v) == 1 && dims_of(v)[0] == 0) ? nullptr : v; }

// "not_larger" and "not_smaller": one scale for all, and sizes rounded half up.
void keep_aspect(const NodeContext& c, const std::string& policy, const ir::Dims& in, const std::vector<int>& axes,
                 std::vector<AxisSize>* out) {
  if (policy == "stretch" || c.opset < 18) return;
  double scale = policy == "not_larger" ? INFINITY : 0;
  for (int axis : axes) {
    const size_t i = static_cast<size_t>(axis);
    const double s = static_cast<double>((*out)[i].size) / std::max(in[i], 1);
    scale = policy == "not_larger" ? std::min(scale, s) : std::max(scale, s);
  }
  for (int axis : axes) {
    AxisSize& a = (*out)[static_cast<size_t>(axis)];
    a.scale = static_cast<float>(scale);
    a.size = static_cast<int64_t>(std::floor(scale * in[static_cast<size_t>(axis)] + 0.5));
  }
}

// The sizes when all of them are known now; false when only running tells. One entry for each dimension of x.
bool read_known(NodeContext& c, const ResizeInputs& in, std::vector<AxisSize>* out) {
  std::vector<double> scales(in.scale_attribute.begin(), in.scale_attribute.end()), roi;
  std::vector<int64_t> sizes;
  if (in.scales != nullptr && !ir::known_floats(*in.scales, &scales)) return false;
  if (in.sizes != nullptr && !ir::known_ints(*in.sizes, &sizes)) return false;
  if (in.roi != nullptr && !ir::known_floats(*in.roi, &roi)) return false;
  const size_t n = in.axes.size();
  if ((sizes.empty() ? scales.size() : sizes.size()) != n || (!roi.empty() && roi.size() != 2 * n)) {
    c.fail("scales, sizes and roi: expected one entry (roi: two) for each of " + std::to_string(n) + " axes");
    return true;
  }
  out->assign(static_cast<size_t>(rank_of(c.in(0))), AxisSize{});
  for (size_t k = 0; k < n; ++k) {
    AxisSize& a = (*out)[static_cast<size_t>(in.axes[k])];
    if (!sizes.empty()) a.size = std::max<int64_t>(sizes[k], 0);
    else a.scale = static_cast<float>(scales[k]);
    if (!roi.empty()) {
      a.roi_start = static_cast<float>(roi[k]);
      a.roi_end = static_cast<float>(roi[n + k]);
    }
  }
  if (!sizes.empty()) keep_aspect(c, c.attr_string("keep_aspect_ratio_policy", "stretch"), dims_of(c.in(0)), in.axes, out);
  return true;
}

bool changes(const AxisSize& a, const Attrs& attrs, int32_t in, bool fixed) {
  if (a.size < 0 && (a.scale == 0 || a.scale == 1)) return attrs.coordinates == ops::resize::kCropAndResize && a.scale == 1;
  if (attrs.coordinates == ops::resize::kCropAndResize) return a.roi_start != 0 || a.roi_end != 1 || a.size != in;
  return a.scale != 0 ? true : !(fixed && a.size == in);
}

void set_axis(const AxisSize& from, int i, Attrs* a) {
  a->sizes[i] = static_cast<int32_t>(std::clamp<int64_t>(from.size, 0, INT32_MAX));
  a->scales[i] = from.scale;
  if (from.size < 0 && from.scale == 0) a->scales[i] = 1;
  a->roi_start[i] = from.roi_start;
  a->roi_end[i] = from.roi_end;
}

// The reshapes below find one open size by themselves. -1: all are fixed.
bool find_open_axis(Decompose& d, const Value* x, int* open) {
  *open = -1;
  for (int i = 0; i < rank_of(x); ++i) {
    if (is_fixed(x, i)) continue;
    if (*open >= 0) {
      d.c.fail("resizing other than the last dimensions: expected at most one open size, found them in dimensions " +
                   std::to_string(*open) + " and " + std::to_string(i),
               "fix one with --dim NAME=SIZE, or all of an input's with --shape INPUT=1x224x224x3");
      return false;
    }
    *open = i;
  }
  return true;
}

// Any axes, at most three at a time: they move behind the others, which become one batch dimension.
Value* resize_any_axes(Decompose& d, Value* x, std::vector<int> axes, const std::vector<AxisSize>& sizes, const Attrs& base) {
  while (!axes.empty() && d.b.ok()) {
    const size_t n = std::min<size_t>(axes.size(), 3);
    const std::vector<int> now(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(n));
    axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(n));
    int open = -1;
    if (!find_open_axis(d, x, &open)) return nullptr;
    const ir::Dims dims = dims_of(x);
    std::vector<int> perm, inverse(dims.size());
    int64_t batch_size = 1;
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
      if (std::find(now.begin(), now.end(), i) != now.end()) continue;
      perm.push_back(i);
      batch_size = i == open || batch_size < 0 ? -1 : batch_size * dims[static_cast<size_t>(i)];
    }
    std::vector<int64_t> folded{batch_size}, unfolded;
    for (int i : perm) unfolded.push_back(i == open ? -1 : dims[static_cast<size_t>(i)]);
    perm.insert(perm.end(), now.begin(), now.end());
    Attrs a = base;
    for (size_t k = 0; k < n; ++k) {
      folded.push_back(now[k] == open ? -1 : dims[static_cast<size_t>(now[k])]);
      set_axis(sizes[static_cast<size_t>(now[k])], static_cast<int>(k), &a);
    }
    folded.push_back(1);
    Value* batch = d.reshape(d.transpose(x, perm), folded);
    Value* y = d.b.ok() ? d.b.op(OpId::resize, a, {batch}) : nullptr;
    if (y == nullptr) return nullptr;
    for (size_t k = 0; k < n; ++k) {
      const int64_t asked = sizes[static_cast<size_t>(now[k])].size;
      unfolded.push_back(asked >= 0 ? asked : now[k] == open ? -1 : dims_of(y)[k + 1]);
    }
    for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int>(i);
    x = d.transpose(d.reshape(y, unfolded), inverse);
  }
  return x;
}

// (N, C, spatial...) with spatial dimensions alone resized: channels-last, as the operator wants it.
Value* resize_spatial(Decompose& d, Value* x, const std::vector<AxisSize>& sizes, Attrs a) {
  for (int i = 0; i + 2 < rank_of(x); ++i) set_axis(sizes[static_cast<size_t>(i) + 2], i, &a);
  Value* last = d.channels_last(x);
  return d.b.ok() ? d.channels_first(d.b.op(OpId::resize, a, {last})) : nullptr;
}

// The spatial entries of a run-time list, in order; `otherwise` gives the entry of a dimension the list leaves out.
Value* spatial_entries(Decompose& d, Value* list, const std::vector<int>& axes, size_t begin, const std::function<Value*(int)>& otherwise) {
  std::vector<Value*> parts;
  for (int axis = 2; axis < rank_of(d.c.in(0)); ++axis) {
    const auto it = std::find(axes.begin(), axes.end(), axis);
    const int64_t at = static_cast<int64_t>(begin) + (it - axes.begin());
    parts.push_back(it == axes.end() ? otherwise(axis) : d.slice(list, 0, at, at + 1));
  }
  return d.concat(parts, 0);
}

// One scale for all axes, and the sizes it gives.
void keep_aspect_running(Decompose& d, const std::string& policy, Value* x, Value** sizes, Value** scales) {
  Value* in = d.cast(d.slice(d.shape_of(x), 0, 2, INT32_MAX), DType::f32);
  Value* ratio = d.reduce(policy == "not_larger" ? OpId::reduce_min : OpId::reduce_max, d.div(d.cast(*sizes, DType::f32), in), {0});
  *sizes = d.cast(d.op(OpId::floor, {d.add(d.mul(in, ratio), 0.5)}), DType::s64);
  *scales = d.expand(ratio, {rank_of(x) - 2});
}

Value* resize_running(Decompose& d, Value* x, const ResizeInputs& in, const Attrs& a) {
  const int rank = rank_of(x);
  if (rank < 3 || rank > 5) {
    d.c.fail("sizes that only running tells are possible for 1 to 3 spatial dimensions alone, found rank " + std::to_string(rank));
    return nullptr;
  }
  const auto number = [&](float v) { return d.b.graph().constant<float>({1}, {v}); };
  const auto one = [&](int) { return number(1); };
  Value *sizes = nullptr, *scales = nullptr, *roi = nullptr;
  if (in.sizes != nullptr)
    sizes = spatial_entries(d, d.cast(in.sizes, DType::s64), in.axes, 0, [&](int axis) { return d.size_of(x, axis); });
  else if (in.scales != nullptr) scales = spatial_entries(d, in.scales, in.axes, 0, one);
  else scales = d.b.graph().constant<float>({rank - 2}, {in.scale_attribute.begin() + 2, in.scale_attribute.end()});
  if (in.roi != nullptr && a.coordinates == ops::resize::kCropAndResize) {
    Value* all = d.cast(in.roi, DType::f32);
    roi = d.concat(
        {spatial_entries(d, all, in.axes, 0, [&](int) { return number(0); }), spatial_entries(d, all, in.axes, in.axes.size(), one)}, 0);
  }
  const std::string policy = d.c.attr_string("keep_aspect_ratio_policy", "stretch");
  if (sizes != nullptr && policy != "stretch" && d.c.opset >= 18) keep_aspect_running(d, policy, x, &sizes, &scales);
  std::optional<ir::Type> declared = d.c.declared(0);
  if (declared.has_value() && declared->rank() == rank) {
    std::rotate(declared->dims.begin() + 1, declared->dims.begin() + 2, declared->dims.end());
    declared->dynamic = declared->dynamic == 0 ? 0 : static_cast<uint8_t>((1u << rank) - 1);
  }
  Value* last = d.channels_last(x);
  if (!d.b.ok()) return nullptr;
  d.b.declare({declared});
  Value* y = d.b.op(OpId::resize, a, {last, sizes, scales, roi});
  d.b.declare({});
  return d.channels_first(y);
}

void resize(NodeContext& c, const ResizeInputs& in, const Attrs& a) {
  Decompose d(c);
  Value* x = c.in(0);
  if (!c.b.ok()) return;
  std::vector<AxisSize> sizes;
  if (!read_known(c, in, &sizes)) return c.out(0, resize_running(d, x, in, a));
  if (!c.b.ok()) return;
  std::vector<int> changed;
  for (int i = 0; i < rank_of(x); ++i)
    if (changes(sizes[static_cast<size_t>(i)], a, dims_of(x)[static_cast<size_t>(i)], is_fixed(x, i))) changed.push_back(i);
  if (changed.empty()) return c.out(0, d.op(OpId::copy, {x}));
  const bool spatial = changed.front() >= 2 && rank_of(x) <= 5;
  c.out(0, spatial ? resize_spatial(d, x, sizes, a) : resize_any_axes(d, x, changed, sizes, a));
}

std::vector<int> all_axes(const Value* x) {
  std::vector<int> axes;
  for (int i = 0; i < rank_of(x); ++i) axes.push_back(i);
  return axes;
}

void import_resize(NodeContext& c) {
  ResizeInputs in;
  for (int64_t a : c.attr_ints("axes")) in.axes.push_back(axis_of(c, a, rank_of(c.in(0))));
  if (in.axes.empty()) in.axes = all_axes(c.in(0));
  in.roi = c.attr_string("coordinate_transformation_mode", "") == "tf_crop_and_resize" ? given(c.in(1)) : nullptr;
  in.scales = given(c.in(2));
  in.sizes = given(c.in(3));
  if (in.scales == nullptr && in.sizes == nullptr) return c.fail("expected scales or sizes, found neither");
  if (in.sizes != nullptr) in.scales = nullptr;
  resize(c, in, read_attributes(c, false));
}

void import_upsample(NodeContext& c) {
  ResizeInputs in;
  in.axes = all_axes(c.in(0));
  in.scales = given(c.in(1));
  if (in.scales == nullptr) {
    in.scale_attribute = c.attr_floats("scales");
    if (c.attr("height_scale") != nullptr) in.scale_attribute = {1, 1, c.attr_float("height_scale", 1), c.attr_float("width_scale", 1)};
    if (in.scale_attribute.size() != in.axes.size()) return c.fail("scales: expected one for each dimension");
  }
  resize(c, in, read_attributes(c, true));
}

void import_grid_sample(NodeContext& c) {
  Decompose d(c);
  ops::grid_sample::Attrs a;
  const std::string mode = c.attr_string("mode", "linear");
  a.mode = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 2 : 0;
  const std::string padding = c.attr_string("padding_mode", "zeros");
  a.padding = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  if (a.mode == ops::grid_sample::kCubic && a.padding == ops::grid_sample::kBorder && c.attr_int("border_of_elements", 0) != 0)
    a.padding = ops::grid_sample::kBorderTaps;  // com.microsoft (contrib_ops.cc)
  a.align_corners = c.attr_int("align_corners", 0) != 0 ? 1 : 0;
  Value *x = d.channels_last(c.in(0)), *grid = d.cast(c.in(1), dtype_of_value(c.in(0)));
  if (c.b.ok()) c.out(0, d.channels_first(c.b.op(OpId::grid_sample, a, {x, grid})));
}

void import_affine_grid(NodeContext& c) {
  ops::affine_grid::Attrs a;
  a.align_corners = c.attr_int("align_corners", 0) != 0 ? 1 : 0;
  c.out(0, c.b.op(OpId::affine_grid, a, {c.in(0), c.in(1)}));
}

}  // namespace

void add_resize_ops(OpTable& t);
void add_resize_ops(OpTable& t) {
  t["Resize"] = {{"Resize", &import_upsample, 10, 2}, {"Resize", &import_resize, 11}};
  t["Upsample"] = {{"Upsample", &import_upsample}};
  t["GridSample"] = {{"GridSample", &import_grid_sample, 16, 2}};
  t["AffineGrid"] = {{"AffineGrid", &import_affine_grid, 20, 2}};
}

}  // namespace mote::frontends::onnx
