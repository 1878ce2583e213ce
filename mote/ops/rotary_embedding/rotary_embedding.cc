#include "mote/ops/rotary_embedding/rotary_embedding.h"

namespace mote::ops::rotary_embedding {
namespace {

// Byte offset of the row of a cache for sequence element (b, s); negative when its position is outside the cache.
int32_t cache_row(const OpContext& c, const Tensor& cache, int32_t b, int32_t s) noexcept {
  if (!c.has_input(3)) return cache.rank() == 2 ? s * cache.stride(0) : b * cache.stride(0) + s * cache.stride(1);
  const Tensor& p = c.input(3);
  const int64_t position = load_int(p.dtype(), p.at<const uint8_t>(b * p.stride(0) + s * p.stride(1)));
  if (position < 0 || position >= cache.dim(0)) return -1;
  return static_cast<int32_t>(position) * cache.stride(0);
}

template <class T>
struct RotaryEmbedding {
  using C = Compute<T>;

  static void rotate(const Attrs& a, const T* x, const T* cos, const T* sin, T* y, int32_t features) noexcept {
    const int32_t count = rotated(a, features), half = count / 2;
    for (int32_t i = 0; i < half; ++i) {
      const int32_t first = a.interleaved != 0 ? 2 * i : i, second = a.interleaved != 0 ? 2 * i + 1 : i + half;
      const C u = x[first], v = x[second], k = cos[i], s = sin[i];
      y[first] = static_cast<T>(k * u - s * v);
      y[second] = static_cast<T>(s * u + k * v);
    }
    for (int32_t i = count; i < features; ++i) y[i] = x[i];
  }

  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &cos = c.input(1), &sin = c.input(2), &y = c.output(0);
    for (int32_t b = 0; b < x.dim(0); ++b) {
      for (int32_t s = 0; s < x.dim(2); ++s) {
        const int32_t cos_row = cache_row(c, cos, b, s), sin_row = cache_row(c, sin, b, s);
        if (cos_row < 0 || sin_row < 0) return {Status::kInvalidArgument, Why::kIndexRange};
        for (int32_t h = 0; h < x.dim(1); ++h)
          rotate(c.attrs<Attrs>(), x.at<const T>(b * x.stride(0) + h * x.stride(1) + s * x.stride(2)), cos.at<const T>(cos_row),
                 sin.at<const T>(sin_row), y.at<T>(b * y.stride(0) + h * y.stride(1) + s * y.stride(2)), x.dim(3));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::rotary_embedding, RotaryEmbedding>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::rotary_embedding
