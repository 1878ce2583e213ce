#pragma once

#include <cmath>

#include "mote/ops/common/nn_checks.h"
#include "mote/ops/common/select.h"

namespace mote::ops::resize {

enum Mode : int32_t { kNearest, kLinear, kCubic };
enum Coordinates : int32_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kHalfPixelForNearest,
  kCropAndResize
};
enum NearestRule : int32_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
// Runtimes compute the same places in different ways; nearest shows it, where a place is half way between two elements or is one.
enum Places : int32_t { kTimesStep, kAsOnnxRuntime };

struct Attrs {
  int32_t mode = kNearest;
  int32_t coordinates = kHalfPixel;
  int32_t nearest = kRoundPreferFloor;
  int32_t antialias = 0;
  int32_t exclude_outside = 0;
  float cubic_a = -0.75f;
  float extrapolation = 0;
  int32_t sizes[3] = {};
  float scales[3] = {};
  float roi_start[3] = {};
  float roi_end[3] = {1, 1, 1};
  int32_t places = kTimesStep;
  float steps[3] = {};
};
using Types = NumberTypes;
Scratch scratch(const OpContext& c) noexcept;
inline constexpr OpInfo kInfo =
    OpInfo("Resizes the spatial dimensions by interpolation; integers are rounded to nearest, ties to even, and saturate.")
        .signature("x, sizes?, scales?, roi? -> y")
        .inputs(1, 4)
        .types(mask_of_list(Types{}))
        .ranks(3, 5)
        .scratch(&scratch)
        .onnx("Resize, Upsample");
inline constexpr auto kAttrs = std::make_tuple(
    attr("mode", &Attrs::mode, "0 nearest, 1 linear, 2 cubic"),
    attr("coordinates", &Attrs::coordinates,
         "place of output element i in the input: 0 half pixel (i + .5) / scale - .5; 1 half pixel symmetric; 2 half pixel, 0 where one "
         "element comes out; 3 align corners i * (in - 1) / (out - 1); 4 asymmetric i / scale; 5 (i + .5) / scale, for nearest; 6 crop"),
    attr("nearest", &Attrs::nearest, "how nearest rounds the place: 0 half down, 1 half up, 2 floor, 3 ceil"),
    attr("antialias", &Attrs::antialias, "1: linear and cubic widen their window when they shrink"),
    attr("exclude_outside", &Attrs::exclude_outside,
         "0: the edge is repeated outside, 1: weights outside count 0, the others are scaled to sum 1"),
    attr("cubic_a", &Attrs::cubic_a, "parameter of the cubic kernel"),
    attr("extrapolation", &Attrs::extrapolation, "value of places outside the input, for coordinates 6"),
    attr("sizes", &Attrs::sizes, "size of each spatial dimension of y; 0: floor(in * scale). Inputs `sizes` and `scales` go before"),
    attr("scales", &Attrs::scales,
         "scale of each spatial dimension in the coordinates, where places are divided by it; 0: places are multiplied by in / out. Input "
         "`scales` goes before"),
    attr("roi_start", &Attrs::roi_start,
         "start of the crop in each spatial dimension, 0 to 1 spans the input; input `roi` (starts, then ends) goes before"),
    attr("roi_end", &Attrs::roi_end, "end of the crop in each spatial dimension"),
    attr("places", &Attrs::places,
         "how places are computed where no scale is given: 0 multiplied by in / out, as TFLite and PyTorch do; 1 divided by out / in, as "
         "ONNX "
         "Runtime does; then a place within 1e-6 of a half also counts as one, and align corners multiplies before it divides"),
    attr("steps", &Attrs::steps,
         "what places are multiplied by in each spatial dimension, as PyTorch does with a scale factor; 0: `scales` and sizes tell"));

inline Status check_attrs(const Attrs& a, const InferContext& c, int spatial) noexcept {
  MOTE_TRY(require_range(c, a.mode, kNearest, kCubic));
  MOTE_TRY(require_range(c, a.coordinates, kHalfPixel, kCropAndResize));
  MOTE_TRY(require_range(c, a.nearest, kRoundPreferFloor, kCeil));
  MOTE_TRY(require_range(c, a.antialias, 0, a.mode == kNearest ? 0 : 1));
  MOTE_TRY(require_range(c, a.exclude_outside, 0, 1));
  MOTE_TRY(require_range(c, a.places, kTimesStep, kAsOnnxRuntime));
  if (!std::isfinite(a.cubic_a)) return c.reject(Why::kAttribute);
  for (int i = 0; i < spatial; ++i) {
    MOTE_TRY(require_range(c, a.sizes[i], 0, 0x7fffffff));
    if (!(a.scales[i] >= 0) || !std::isfinite(a.scales[i]) || !std::isfinite(a.roi_start[i]) || !std::isfinite(a.roi_end[i]))
      return c.reject(Why::kAttribute);
    if (!(a.steps[i] >= 0) || !std::isfinite(a.steps[i])) return c.reject(Why::kAttribute);
  }
  return Status::kOk;
}

// floor(in * scale), or -1 when that is no size. The product is rounded to f32 as in ONNX Runtime: 5 * 1.8f is 9.
inline int64_t scaled_size(int32_t in, float scale) noexcept {
  const float size = std::floor(static_cast<float>(in) * scale);
  return scale > 0 && size < 2147483648.0f ? static_cast<int64_t>(size) : -1;
}

// x (N, 1 to 3 spatial dimensions, C), sizes and scales one per spatial dimension, roi two.
inline Status infer(const Attrs& a, const InferContext& c) noexcept {
  MOTE_TRY(c.require(0, kInfo.types_));
  const TensorDesc& x = c.in(0);
  if (x.rank < 3 || x.rank > 5) return c.reject(Why::kRank, 4, x.rank);
  const int spatial = x.rank - 2;
  MOTE_TRY(check_attrs(a, c, spatial));
  if (c.has(1)) {
    MOTE_TRY(c.require(1, kIndex));
    MOTE_TRY(require_dims(c, 1, {spatial}));
  }
  for (int i = 2; i < 4; ++i) {
    if (!c.has(i)) continue;
    MOTE_TRY(c.require(i, mask_of(DType::f32)));
    MOTE_TRY(require_dims(c, i, {(i - 1) * spatial}));
  }
  int32_t dims[5] = {x.dims[0]};
  dims[x.rank - 1] = x.dims[x.rank - 1];
  for (int i = 0; i < spatial; ++i) {
    int64_t size = a.sizes[i];
    if (c.has(1)) size = c.known(1) ? c.value(1, i) : kDimUnknown;
    else if (c.has(2) || size == 0) {
      if (!c.has(2) && a.scales[i] == 0) return c.reject(Why::kAttribute, 1, 0);
      const bool open = c.has(2) && !c.known(2);
      size = open ? kDimUnknown : scaled_size(x.dims[1 + i], c.has(2) ? c.op().input(2).as<const float>()[i] : a.scales[i]);
      if (!open && size < 0) return c.reject(Why::kShapeOverflow, kMaxTensorBytes);
    }
    if (c.known(1) && size < 0) return c.reject(Why::kNegativeDim, 0, size);
    if (size > 0 && x.dims[1 + i] == 0) return c.reject(Why::kDimMismatch, 0, size);
    dims[1 + i] = static_cast<int32_t>(size);
  }
  MOTE_TRY(require_elements(c, x.dtype, {dims[0], dims[1], dims[2], dims[3], dims[4]}));
  return c.set(0, x.dtype, x.rank, dims);
}
KernelFn select(const OpContext& c) noexcept;

}  // namespace mote::ops::resize
