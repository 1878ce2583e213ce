#include "mote/ops/grid_sample/grid_sample.h"

#include <cmath>

namespace mote::ops::grid_sample {
namespace {

// Reflects a place at the borders low and high until it lies between them.
template <class C>
C reflect(C v, C low, C high) noexcept {
  const C range = high - low;
  if (v >= low && v <= high) return v;
  if (range <= 0) return low;
  const C beyond = v < low ? low - v : v - high;
  const C rest = std::fmod(beyond, range);
  const bool even = std::fmod(std::floor(beyond / range), C(2)) == 0;
  return even == (v < low) ? low + rest : high - rest;
}

// The elements of one dimension that a sample is made of: `count` from `first` on, with their weights.
template <class C>
struct Taps {
  int32_t first = 0, count = 1, size = 1;
  C weights[4] = {1};
  int32_t padding = kBorder, align = 0;

  Taps() = default;  // for the dimension an image lacks
  Taps(const Attrs& a, C place, int32_t size_) noexcept : size(size_), padding(a.padding), align(a.align_corners) {
    const C extent = static_cast<C>(size);
    C v = align != 0 ? (place + 1) / 2 * (extent - 1) : ((place + 1) * extent - 1) / 2;
    if (a.mode == kNearest && padding != kReflectionFirst) v = std::nearbyint(v);
    const C low = align != 0 ? C(0) : C(-0.5), high = align != 0 ? extent - 1 : extent - C(0.5);
    if (padding == kBorder && (v < low || v > high)) v = v < low ? C(0) : extent - 1;
    if (padding == kReflection || padding == kReflectionFirst) v = reflect(v, low, high);
    if (padding == kReflectionFirst) {
      v = v < 0 ? C(0) : v > extent - 1 ? extent - 1 : v;
      if (a.mode == kNearest) v = std::nearbyint(v);
    }
    // A place that is no number lies outside, or on the first element. Anything further out than this is outside all the same.
    if (v != v) v = padding == kZeros ? C(-8) : C(0);
    v = v < -8 ? C(-8) : v > extent + 8 ? extent + 8 : v;
    const C whole = std::floor(v);
    first = static_cast<int32_t>(whole);
    if (a.mode == kLinear) linear(v - whole);
    if (a.mode == kCubic) cubic(v - whole);
  }
  void linear(C x) noexcept {
    count = 2;
    weights[0] = 1 - x;
    weights[1] = x;
  }
  void cubic(C x) noexcept {
    constexpr C k = C(-0.75);
    const auto near = [&](C d) { return ((k + 2) * d - (k + 3)) * d * d + 1; };
    const auto far = [&](C d) { return ((k * d - 5 * k) * d + 8 * k) * d - 4 * k; };
    count = 4;
    --first;
    weights[0] = far(x + 1);
    weights[1] = near(x);
    weights[2] = near(1 - x);
    weights[3] = far(2 - x);
  }
  // The element tap k reads, -1 for a zero.
  int32_t index(int32_t k) const noexcept {
    int32_t i = first + k;
    if (i >= 0 && i < size) return i;
    if (padding == kZeros) return -1;
    if (padding != kReflection || size == 1) return i < 0 ? 0 : size - 1;
    const int32_t period = align != 0 ? 2 * (size - 1) : 2 * size;
    i = (i % period + period) % period;
    return i < size ? i : period - i - (align != 0 ? 0 : 1);
  }
};

template <class T>
struct GridSample {
  using C = Compute<T>;

  static C sample(const Tensor& x, int32_t image, const Taps<C> (&taps)[3], const int32_t (&strides)[3], int32_t channel) noexcept {
    C sum = 0;
    for (int32_t i = 0; i < taps[0].count; ++i) {
      const int32_t z = taps[0].index(i);
      for (int32_t j = 0; z >= 0 && j < taps[1].count; ++j) {
        const int32_t y = taps[1].index(j);
        for (int32_t k = 0; y >= 0 && k < taps[2].count; ++k) {
          const int32_t at = taps[2].index(k);
          const C weight = taps[0].weights[i] * taps[1].weights[j] * taps[2].weights[k];
          if (at < 0 || weight == 0) continue;
          sum += weight * static_cast<C>(x.at<const T>(image + z * strides[0] + y * strides[1] + at * strides[2])[channel]);
        }
      }
    }
    return sum;
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &grid = c.input(1), &y = c.output(0);
    const int spatial = x.rank() - 2, lead = 3 - spatial;
    int32_t out[3] = {1, 1, 1}, x_strides[3] = {}, g_strides[3] = {}, y_strides[3] = {};
    for (int i = 0; i < spatial; ++i) {
      if (x.dim(1 + i) == 0) return Status::kOk;
      out[lead + i] = y.dim(1 + i);
      x_strides[lead + i] = x.stride(1 + i);
      g_strides[lead + i] = grid.stride(1 + i);
      y_strides[lead + i] = y.stride(1 + i);
    }
    Taps<C> taps[3];
    for (int32_t n = 0; n < y.dim(0); ++n)
      for (int32_t i = 0; i < out[0]; ++i)
        for (int32_t j = 0; j < out[1]; ++j)
          for (int32_t k = 0; k < out[2]; ++k) {
            const T* place = grid.at<const T>(n * grid.stride(0) + i * g_strides[0] + j * g_strides[1] + k * g_strides[2]);
            for (int d = 0; d < spatial; ++d) taps[lead + d] = Taps<C>(a, place[spatial - 1 - d], x.dim(1 + d));
            T* to = y.at<T>(n * y.stride(0) + i * y_strides[0] + j * y_strides[1] + k * y_strides[2]);
            for (int32_t ch = 0; ch < y.dim(y.rank() - 1); ++ch) to[ch] = static_cast<T>(sample(x, n * x.stride(0), taps, x_strides, ch));
          }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::grid_sample, GridSample>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::grid_sample
