#include "mote/ops/resize/resize.h"

#include <cmath>
#include <cstring>

#include "mote/ops/common/number.h"
#include "mote/ops/resize/coordinates.h"

namespace mote::ops::resize {
namespace {

// Sums are made in float; in double for f64 and for integers that float cannot hold.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) >= 4), double, float>;
// Places are computed in float, in double for f64.
template <class T>
using Place = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T, class S>
T rounded(S v) noexcept {
  if constexpr (std::is_integral_v<T>) return detail::real_to_int<T>(std::nearbyint(static_cast<double>(v)));
  else return static_cast<T>(v);
}

// Scales and crop that come as inputs take the attributes' place.
Status read_inputs(const OpContext& c, Attrs* a) noexcept {
  const int spatial = c.input(0).rank() - 2;
  for (int i = 0; i < spatial; ++i) {
    if (c.has_input(2)) a->scales[i] = c.input(2).as<const float>()[i];
    if (c.has_input(3)) {
      a->roi_start[i] = c.input(3).as<const float>()[i];
      a->roi_end[i] = c.input(3).as<const float>()[spatial + i];
    }
    if (!(a->scales[i] >= 0) || !std::isfinite(a->scales[i]) || !std::isfinite(a->roi_start[i]) || !std::isfinite(a->roi_end[i]))
      return {Status::kInvalidArgument, Why::kValue};
  }
  return Status::kOk;
}

template <class T>
struct Resize {
  using F = Place<T>;
  using S = Sum<T>;

  // One output element of every channel. strides: of the three spatial dimensions of x.
  static void element(const Attrs& a, const Taps<F> (&taps)[3], const uint8_t* x, const int32_t (&strides)[3], T* y, int32_t channels,
                      S* sums) noexcept {
    if (taps[0].outside() || taps[1].outside() || taps[2].outside()) {
      for (int32_t c = 0; c < channels; ++c) y[c] = rounded<T>(S(a.extrapolation));
      return;
    }
    if (a.mode == kNearest) {
      std::memcpy(y, x + taps[0].index(0) * strides[0] + taps[1].index(0) * strides[1] + taps[2].index(0) * strides[2],
                  static_cast<size_t>(channels) * sizeof(T));
      return;
    }
    for (int32_t c = 0; c < channels; ++c) sums[c] = 0;
    for (int64_t i = 0; i < taps[0].count; ++i) {
      const F w0 = taps[0].weight(i);
      if (w0 == 0) continue;
      for (int64_t j = 0; j < taps[1].count; ++j) {
        const F w1 = w0 * taps[1].weight(j);
        if (w1 == 0) continue;
        for (int64_t k = 0; k < taps[2].count; ++k) {
          const S w = static_cast<S>(w1 * taps[2].weight(k));
          if (w == 0) continue;
          const T* from =
              reinterpret_cast<const T*>(x + taps[0].index(i) * strides[0] + taps[1].index(j) * strides[1] + taps[2].index(k) * strides[2]);
          for (int32_t c = 0; c < channels; ++c) sums[c] += w * static_cast<S>(from[c]);
        }
      }
    }
    for (int32_t c = 0; c < channels; ++c) y[c] = rounded<T>(sums[c]);
  }

  static Status run(const OpContext& c) noexcept {
    Attrs a = c.attrs<Attrs>();
    MOTE_TRY(read_inputs(c, &a));
    const Tensor &x = c.input(0), &y = c.output(0);
    const int spatial = x.rank() - 2, lead = 3 - spatial;
    if (y.count() == 0) return Status::kOk;
    int32_t out[3] = {1, 1, 1}, x_strides[3] = {}, y_strides[3] = {};
    for (int i = 0; i < spatial; ++i) {
      if (x.dim(1 + i) == 0) return {Status::kInvalidArgument, Why::kValue};
      out[lead + i] = y.dim(1 + i);
      x_strides[lead + i] = x.stride(1 + i);
      y_strides[lead + i] = y.stride(1 + i);
    }
    const auto taps_of = [&](int d, int32_t i) { return d < lead ? Taps<F>() : Taps<F>(a, d - lead, x.dim(1 + d - lead), out[d], i); };
    S* sums = reinterpret_cast<S*>(c.scratch.data);
    Taps<F> taps[3];
    for (int32_t n = 0; n < y.dim(0); ++n) {
      for (int32_t i = 0; i < out[0]; ++i) {
        taps[0] = taps_of(0, i);
        for (int32_t j = 0; j < out[1]; ++j) {
          taps[1] = taps_of(1, j);
          for (int32_t k = 0; k < out[2]; ++k) {
            taps[2] = taps_of(2, k);
            element(a, taps, x.at<const uint8_t>(n * x.stride(0)), x_strides,
                    y.at<T>(n * y.stride(0) + i * y_strides[0] + j * y_strides[1] + k * y_strides[2]), y.dim(y.rank() - 1), sums);
          }
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  // Eight bytes a channel: integers of 32 bits and more are summed in double.
  return scratch_numbers(static_cast<uint64_t>(c.input(0).dim(c.input(0).rank() - 1)), DType::f64);
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::resize, Resize>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::resize
