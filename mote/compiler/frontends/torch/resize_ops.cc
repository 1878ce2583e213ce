#include <algorithm>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/compiler/frontends/torch/resize_bytes.h"
#include "mote/ops/affine_grid/affine_grid.h"
#include "mote/ops/col2im/col2im.h"
#include "mote/ops/grid_sample/grid_sample.h"
#include "mote/ops/resize/resize.h"

namespace mote::frontends::torch {
namespace {

// Scales as the program gives them, for each spatial dimension; 0 where it gives sizes alone.
std::vector<double> scales_of(Op& o, int spatial) {
  std::vector<double> out;
  if (o.has("scale_factors")) {
    out = o.reals("scale_factors");
  } else if (spatial == 1) {
    out = {o.real("scales", 0)};
  } else {
    if (spatial == 3) out.push_back(o.real("scales_d", 0));
    out.push_back(o.real("scales_h", 0));
    out.push_back(o.real("scales_w", 0));
  }
  out.resize(static_cast<size_t>(spatial), 0);
  return out;
}

// With aligned corners PyTorch's antialias windows are as far apart and as wide as the corners ask for, but the first is centred half an
// element behind the edge, as without them: only the step differs.
bool align_windows(Op& o, const Value* x, bool running, int spatial, ops::resize::Attrs* a) {
  a->coordinates = ops::resize::kHalfPixel;
  for (int i = 0; i < spatial; ++i) {
    if (running || !is_fixed(x, i + 2)) {
      o.refuse("antialiasing with aligned corners needs fixed sizes", "use align_corners=False, or fixed sizes");
      return false;
    }
    const int64_t in = dim_of(x, i + 2), out = a->sizes[i];
    const float step = in > 1 && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 1e-30f;  // all but 0
    a->steps[i] = step;
    a->scales[i] = 1 / step;
  }
  return true;
}

void import_upsample(Op& o) {
  const std::string& target = o.node.target;
  const auto named = [&](const char* part) { return target.find(part) != std::string::npos; };
  Value* x = o.in(o.has("input") ? "input" : "self");
  const int spatial = rank_of(x) - 2;
  if (!o.b.ok() || spatial < 1 || spatial > 3) return o.refuse("expected (N, C, spatial...)");
  ops::resize::Attrs a;
  const bool corners = o.flag("align_corners", false);
  a.mode = named("nearest") ? 0 : named("bicubic") ? 2 : 1;
  a.antialias = named("_aa") ? 1 : 0;
  if (a.antialias != 0) {
    a.exclude_outside = 1;
    if (a.mode == 2) a.cubic_a = -0.5f;
  }
  if (a.mode == 0) {
    a.coordinates = named("exact") ? 5 : 4;  // the centre of each element, or its start
    a.nearest = 2;
  } else {
    a.coordinates = corners ? 3 : 0;
  }
  const std::vector<double> scales = scales_of(o, spatial);
  const std::vector<Size> sizes = o.has("output_size") ? o.sizes("output_size") : std::vector<Size>{};
  if (!sizes.empty() && static_cast<int>(sizes.size()) != spatial) return o.refuse("'output_size' does not fit the tensor");
  bool running = false;
  for (int i = 0; i < spatial; ++i) {
    const size_t k = static_cast<size_t>(i);
    if (!sizes.empty()) a.sizes[i] = static_cast<int32_t>(std::clamp<int64_t>(sizes[k].known, 0, INT32_MAX));
    else if (is_fixed(x, i + 2)) a.sizes[i] = static_cast<int32_t>(static_cast<double>(dim_of(x, i + 2)) * scales[k]);
    if (!corners || a.mode == 0) {
      a.scales[i] = static_cast<float>(scales[k]);
      if (scales[k] > 0) a.steps[i] = static_cast<float>(1 / scales[k]);  // what PyTorch multiplies places by, rounded once
    }
    running = running || (!sizes.empty() && sizes[k].running != nullptr);
  }
  if (dtype_of_value(x) == DType::u8 && a.mode != 0 && spatial == 2 && !running && is_fixed(x, 2) && is_fixed(x, 3)) {
    ByteResize how{a.mode == 2, a.antialias != 0, corners, {a.sizes[0], a.sizes[1]}, {0, 0}};
    if (!corners) std::copy(scales.begin(), scales.end(), how.scales);
    return o.out(resize_bytes(o, x, how));
  }
  if (corners && a.antialias != 0 && !align_windows(o, x, running, spatial, &a)) return;
  Value* last = o.channels_last(x);
  if (!o.b.ok()) return;
  if (!running) return o.out(o.channels_first(o.b.op(OpId::resize, a, {last})));
  Value* wanted = o.shape_vector(sizes);
  if (o.b.ok()) o.out(o.channels_first(o.b.op(OpId::resize, a, {last, wanted})));
}

void import_grid_sampler(Op& o) {
  ops::grid_sample::Attrs a;
  a.mode = static_cast<int32_t>(o.integer("interpolation_mode", 0));
  a.padding = static_cast<int32_t>(o.integer("padding_mode", 0));
  // PyTorch keeps the place of a cubic sample and brings each of its elements inside; it reflects before it rounds.
  if (a.mode == ops::grid_sample::kCubic && a.padding == ops::grid_sample::kBorder) a.padding = ops::grid_sample::kBorderTaps;
  if (a.mode == ops::grid_sample::kNearest && a.padding == ops::grid_sample::kReflection) a.padding = ops::grid_sample::kReflectionFirst;
  a.align_corners = o.flag("align_corners", false) ? 1 : 0;
  Value *x = o.channels_last(o.in("input")), *grid = o.in("grid");
  if (o.b.ok()) o.out(o.channels_first(o.b.op(OpId::grid_sample, a, {x, grid})));
}

void import_affine_grid(Op& o) {
  ops::affine_grid::Attrs a;
  a.align_corners = o.flag("align_corners", false) ? 1 : 0;
  const std::vector<int64_t> size = o.integers("size");
  if (size.size() < 4 || size.size() > 5) return o.refuse("'size': expected (N, C, H, W) or (N, C, D, H, W)");
  for (size_t i = 2; i < size.size(); ++i) a.sizes[i - 2] = static_cast<int32_t>(std::clamp<int64_t>(size[i], 0, INT32_MAX));
  Value* theta = o.in("theta");
  if (o.b.ok()) o.out(o.b.op(OpId::affine_grid, a, {theta}));
}

bool read_pair(Op& o, const char* name, int32_t* out) {
  const std::vector<int64_t> given = o.integers(name);
  if (given.size() != 2) {
    o.refuse(std::string("'") + name + "': expected 2 values");
    return false;
  }
  for (size_t i = 0; i < 2; ++i) out[i] = static_cast<int32_t>(std::clamp<int64_t>(given[i], INT32_MIN, INT32_MAX));
  return true;
}

// (N, C * taps, positions) to (N, positions, taps, C).
void import_col2im(Op& o) {
  Value* x = o.in("self");
  ops::col2im::Attrs a;
  if (!read_pair(o, "output_size", a.dims) || !read_pair(o, "kernel_size", a.kernel) || !read_pair(o, "dilation", a.dilations) ||
      !read_pair(o, "padding", a.pads_begin) || !read_pair(o, "stride", a.strides))
    return;
  std::copy(a.pads_begin, a.pads_begin + 3, a.pads_end);
  const bool single = rank_of(x) == 2;
  if (single) x = o.unsqueeze(x, {0});
  const int64_t taps = int64_t{a.kernel[0]} * a.kernel[1];
  if (rank_of(x) != 3 || taps < 1 || !is_fixed(x, 1)) return o.refuse("expected (N, C * taps, positions)");
  const std::vector<Size> s = o.sizes_of(x);
  Value* split = o.transpose(o.reshape_to(x, {s[0], Size{s[1].known / taps, nullptr}, Size{taps, nullptr}, s[2]}), {0, 3, 2, 1});
  Value* y = o.b.ok() ? o.channels_first(o.b.op(OpId::col2im, a, {split})) : nullptr;
  o.out(single ? o.squeeze(y, {0}) : y);
}

// The places of one axis that windows look at: (taps, positions).
std::vector<int64_t> window_places(int64_t size, int32_t kernel, int32_t dilation, int32_t stride, int64_t* positions) {
  *positions = 0;
  if (kernel < 1 || dilation < 1 || size < 0) return {};
  *positions = (size - int64_t{dilation} * (kernel - 1) - 1) / stride + 1;
  std::vector<int64_t> out;
  if (*positions > kMostPlaces / kernel) *positions = 0;
  for (int64_t k = 0; k < kernel; ++k)
    for (int64_t p = 0; p < *positions; ++p) out.push_back(p * stride + k * dilation);
  return out;
}

// (N, C, H, W) to (N, C * taps, positions).
void import_im2col(Op& o) {
  Value* x = o.in("self");
  int32_t kernel[2], dilation[2], padding[2], stride[2];
  if (!read_pair(o, "kernel_size", kernel) || !read_pair(o, "dilation", dilation) || !read_pair(o, "padding", padding) ||
      !read_pair(o, "stride", stride))
    return;
  const bool single = rank_of(x) == 3;
  if (single) x = o.unsqueeze(x, {0});
  if (rank_of(x) != 4 || !is_fixed(x, 2) || !is_fixed(x, 3) || stride[0] < 1 || stride[1] < 1)
    return o.refuse("expected (N, C, H, W) of fixed sizes");
  x = o.pad(x, {0, 0, padding[0], padding[1]}, {0, 0, padding[0], padding[1]});
  int64_t rows = 0, cols = 0;
  if (!o.b.ok()) return;
  const auto down = window_places(dim_of(x, 2), kernel[0], dilation[0], stride[0], &rows);
  const auto across = window_places(dim_of(x, 3), kernel[1], dilation[1], stride[1], &cols);
  if (rows < 1 || cols < 1) return o.refuse("the window is larger than the image, or there are too many");
  // (N, C, taps, rows, W), then (N, C, taps, rows, taps, cols).
  Value* y = o.gather(x, o.reshape(o.ints(down), {kernel[0], rows}), 2);
  y = o.transpose(o.gather(y, o.reshape(o.ints(across), {kernel[1], cols}), 4), {0, 1, 2, 4, 3, 5});
  const std::vector<Size> s = o.sizes_of(x);
  y = o.reshape_to(y, {s[0], Size{s[1].known * kernel[0] * kernel[1], nullptr}, Size{rows * cols, nullptr}});
  o.out(single ? o.squeeze(y, {0}) : y);
}

}  // namespace

void add_resize_ops(OpTable& t);
void add_resize_ops(OpTable& t) {
  constexpr DTypeMask kResampled = kFloat | mask_of(DType::u8);
  add_lines(t, {
                   {"aten.upsample_nearest1d", "default vec", &import_upsample, kReal},
                   {"aten.upsample_nearest2d", "default vec", &import_upsample, kReal},
                   {"aten.upsample_nearest3d", "default vec", &import_upsample, kReal},
                   {"aten._upsample_nearest_exact1d", "default vec", &import_upsample, kReal},
                   {"aten._upsample_nearest_exact2d", "default vec", &import_upsample, kReal},
                   {"aten._upsample_nearest_exact3d", "default vec", &import_upsample, kReal},
                   {"aten.upsample_linear1d", "default vec", &import_upsample, kFloat},
                   {"aten.upsample_bilinear2d", "default vec", &import_upsample, kResampled},
                   {"aten.upsample_trilinear3d", "default vec", &import_upsample, kFloat},
                   {"aten.upsample_bicubic2d", "default vec", &import_upsample, kResampled},
                   {"aten._upsample_bilinear2d_aa", "default vec", &import_upsample, kResampled},
                   {"aten._upsample_bicubic2d_aa", "default vec", &import_upsample, kResampled},
                   {"aten.grid_sampler", "default", &import_grid_sampler, kFloat},
                   {"aten.grid_sampler_2d", "default", &import_grid_sampler, kFloat},
                   {"aten.grid_sampler_3d", "default", &import_grid_sampler, kFloat},
                   {"aten.affine_grid_generator", "default", &import_affine_grid, kFloat},
                   {"aten.col2im", "default", &import_col2im, kReal},
                   {"aten.im2col", "default", &import_im2col, kAny},
               });
}

}  // namespace mote::frontends::torch
