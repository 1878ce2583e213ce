#include "mote/ops/q_resize/q_resize.h"

namespace mote::ops::q_resize {
namespace {

// Two neighbours and how far the position lies from the first, in units of U (1024ths or 1).
template <class U>
struct Between {
  int32_t first, second;
  U part;
};

int32_t clamped(int64_t v, int32_t size) { return clamp_to(v, 0, size - 1); }

int32_t nearest(int32_t at, int32_t in, int32_t out, const Attrs& a) {
  const bool corners = a.align_corners != 0;
  const float scale =
      corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : static_cast<float>(in) / static_cast<float>(out);
  const float position = (static_cast<float>(at) + (a.half_pixel_centers != 0 ? 0.5f : 0.0f)) * scale;
  return clamped(round_to_s32(corners ? std::round(position) : std::floor(position)), in);
}

Between<int64_t> between_fixed(int32_t at, int32_t in, int32_t out, const Attrs& a) {
  const bool corners = a.align_corners != 0 && out > 1;
  const int64_t from = corners ? in - 1 : in, to = corners ? out - 1 : out, scale = (from * 1024 + to / 2) / to;
  const int64_t position = at * scale + (a.half_pixel_centers != 0 ? scale / 2 - 512 : 0);
  const int32_t first = clamped(position / 1024, in);
  return {first, clamped((position + 1023) / 1024, in), position - first * int64_t{1024}};
}

Between<float> between_real(int32_t at, int32_t in, int32_t out, const Attrs& a) {
  const bool corners = a.align_corners != 0 && out > 1;
  const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : static_cast<float>(in) / static_cast<float>(out);
  const float position = a.half_pixel_centers != 0 ? (static_cast<float>(at) + 0.5f) * scale - 0.5f : static_cast<float>(at) * scale;
  const int32_t first = clamped(round_to_s32(std::floor(position)), in);
  return {first, clamped(round_to_s32(std::ceil(position)), in), position - static_cast<float>(first)};
}

template <class T>
struct Resize {
  static const T* row(const Tensor& x, int32_t n, int32_t h, int32_t w) {
    return x.at<const T>(n * x.stride(0) + h * x.stride(1) + w * x.stride(2));
  }

  // One output position, all channels.
  static void blend(const Tensor& x, int32_t n, int32_t h, int32_t w, const Attrs& a, T* out) {
    const int32_t ih = x.dim(1), iw = x.dim(2), channels = x.dim(3);
    if constexpr (std::is_same_v<T, uint8_t>) {
      const Between<float> v = between_real(h, ih, a.height, a), u = between_real(w, iw, a.width, a);
      const T *p = row(x, n, v.first, u.first), *q = row(x, n, v.second, u.first), *r = row(x, n, v.first, u.second),
              *s = row(x, n, v.second, u.second);
      for (int32_t k = 0; k < channels; ++k) {
        const float sum = static_cast<float>(p[k]) * (1 - v.part) * (1 - u.part) + static_cast<float>(q[k]) * v.part * (1 - u.part) +
                          static_cast<float>(r[k]) * (1 - v.part) * u.part + static_cast<float>(s[k]) * v.part * u.part + 0.5f;
        out[k] = saturate_to<T>(round_to_s32(std::trunc(sum)));
      }
    } else {
      const Between<int64_t> v = between_fixed(h, ih, a.height, a), u = between_fixed(w, iw, a.width, a);
      const T *p = row(x, n, v.first, u.first), *q = row(x, n, v.second, u.first), *r = row(x, n, v.first, u.second),
              *s = row(x, n, v.second, u.second);
      for (int32_t k = 0; k < channels; ++k) {
        const int64_t sum = (p[k] * (1024 - v.part) + q[k] * v.part) * (1024 - u.part) + (r[k] * (1024 - v.part) + s[k] * v.part) * u.part;
        out[k] = saturate_to<T>((sum > 0 ? sum + (1 << 19) : sum - (1 << 19)) / (1 << 20));
      }
    }
  }
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    for (int32_t n = 0; n < y.dim(0); ++n) {
      for (int32_t h = 0; h < y.dim(1); ++h) {
        for (int32_t w = 0; w < y.dim(2); ++w) {
          T* out = y.at<T>(n * y.stride(0) + h * y.stride(1) + w * y.stride(2));
          if (static_cast<Method>(a.method) == Method::kBilinear) {
            blend(x, n, h, w, a, out);
          } else {
            const T* from = row(x, n, nearest(h, x.dim(1), a.height, a), nearest(w, x.dim(2), a.width, a));
            for (int32_t k = 0; k < x.dim(3); ++k) out[k] = from[k];
          }
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_resize, Resize>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_resize
