#pragma once

#include <cmath>

#include "mote/ops/resize/resize.h"

namespace mote::ops::resize {

// Where output element i of a dimension lies in the input. F is float, as TFLite, ATen and ONNX Runtime have it (ties of nearest depend
// on it), double for f64.
template <class F>
F source_place(const Attrs& a, int axis, int32_t in, int32_t out, int32_t i) noexcept {
  const bool onnx = a.places == kAsOnnxRuntime, given = a.scales[axis] > 0;
  const F x = static_cast<F>(i), half = F(0.5), size = static_cast<F>(in), last = size - 1;
  const F scale = given ? F(a.scales[axis]) : static_cast<F>(out) / size, length = given ? size * scale : static_cast<F>(out);
  const F step = a.steps[axis] > 0 ? F(a.steps[axis]) : size / static_cast<F>(out);
  const bool divides = (given || onnx) && !(a.steps[axis] > 0);
  const auto back = [&](F v) { return divides ? v / scale : v * step; };
  const F start = a.roi_start[axis], end = a.roi_end[axis];
  switch (a.coordinates) {
    case kHalfPixelSymmetric: {
      const F offset = size / 2 * (1 - static_cast<F>(out) / (onnx ? size * scale : length));
      if (!onnx) return offset + back(x + half) - half;
      // This one it computes in double.
      return static_cast<F>(static_cast<double>(offset) + (static_cast<double>(i) + 0.5) / static_cast<double>(scale) - 0.5);
    }
    case kPytorchHalfPixel: return out > 1 ? back(x + half) - half : F(0);
    case kAlignCorners:
      if (length == 1) return F(0);
      return given || onnx ? x * last / (length - 1) : x * (last / (length - 1));
    case kAsymmetric: return back(x);
    case kHalfPixelForNearest: return back(x + half);
    case kCropAndResize:
      if (length == 1) return half * (start + end) * last;
      return start * last + x * (end - start) * last / (length - 1);
    default: return back(x + half) - half;
  }
}

inline int32_t clamp_index(int64_t i, int32_t size) noexcept { return static_cast<int32_t>(i < 0 ? 0 : i >= size ? size - 1 : i); }

template <class F>
int32_t nearest_index(const Attrs& a, F place, int32_t in) noexcept {
  const F whole = std::floor(place), rest = place - whole;
  const bool tie = rest == F(0.5) || (a.places == kAsOnnxRuntime && std::fabs(rest - F(0.5)) <= F(1e-6));
  bool up = rest > F(0.5) && !tie;
  if (a.nearest == kRoundPreferCeil) up = rest > F(0.5) || tie;
  if (a.nearest == kFloor) up = false;
  if (a.nearest == kCeil) up = rest > 0;
  return clamp_index(static_cast<int64_t>(whole) + (up ? 1 : 0), in);
}

// The input elements that one output element of a dimension is made of, and their weights.
template <class F>
class Taps {
 public:
  Taps() = default;  // one element, for dimensions the tensor does not have
  Taps(const Attrs& a, int axis, int32_t in, int32_t out, int32_t i) noexcept : a_(&a), in_(in) {
    // Places far outside are all the same edge; the bound keeps the conversion to an integer defined. ONNX Runtime's places are floats for
    // every type.
    const bool as_float = a.mode == kNearest && a.places == kAsOnnxRuntime;
    const F place = as_float ? static_cast<F>(source_place<float>(a, axis, in, out, i)) : source_place<F>(a, axis, in, out, i),
            bound = F(1e9);
    outside_ = a.coordinates == kCropAndResize && !(place >= 0 && place <= static_cast<F>(in) - 1);
    const F at = place > -bound ? (place < bound ? place : bound) : -bound;
    if (a.mode == kNearest) {
      first_ = nearest_index(a, at, in);
      return;
    }
    const F whole = std::floor(at), reach = a.mode == kLinear ? F(1) : F(2);
    ratio_ = at - whole;
    if (a.antialias != 0) {
      const F scale = a.scales[axis] > 0 ? F(a.scales[axis]) : static_cast<F>(out) / static_cast<F>(in);
      // A window never needs more than both edges beyond the whole input.
      shrink_ = std::fmax(std::fmin(scale, F(1)), F(0.5) / static_cast<F>(in));
    }
    start_ = static_cast<int64_t>(std::floor(-reach / shrink_)) + 1;
    count = 2 - 2 * start_;
    first_ = static_cast<int64_t>(whole) + start_;
    if (a.antialias == 0 && a.exclude_outside == 0) return;
    F sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += weight(k);
    total_ = sum != 0 ? sum : F(1);
  }

  int32_t index(int64_t k) const noexcept { return clamp_index(first_ + k, in_); }
  F weight(int64_t k) const noexcept {
    if (count == 1) return 1;
    if (a_->exclude_outside != 0 && (first_ + k < 0 || first_ + k >= in_)) return 0;
    if (a_->mode == kLinear && a_->antialias == 0) return (k == 0 ? 1 - ratio_ : ratio_) / total_;
    const F x = std::fabs((static_cast<F>(start_ + k) - ratio_) * shrink_), c = a_->cubic_a;
    if (a_->mode == kLinear) return (x < 1 ? 1 - x : F(0)) / total_;
    if (x <= 1) return (((c + 2) * x - (c + 3)) * x * x + 1) / total_;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * c / total_ : F(0);
  }
  bool outside() const noexcept { return outside_; }

  int64_t count = 1;

 private:
  const Attrs* a_ = nullptr;
  int32_t in_ = 1;
  int64_t first_ = 0, start_ = 0;
  F ratio_ = 0, shrink_ = 1, total_ = 1;
  bool outside_ = false;
};

}  // namespace mote::ops::resize
