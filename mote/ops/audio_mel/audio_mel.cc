#include "mote/ops/audio_mel/audio_mel.h"

#include <cstring>

namespace mote::ops::audio_mel {

namespace {

template <class T>
struct Bands {
  // Bands lie inside the spectrum, and there are weights for all of them.
  static bool sound(const OpContext& c, int32_t fft_size) {
    const Tensor& bands = c.input(3);
    int64_t weights = 0;
    for (int32_t n = 0; n < bands.dim(0); ++n) {
      const int32_t* b = bands.at<const int32_t>(n * bands.stride(0));
      if (b[0] < 0 || b[1] < 0 || int64_t{b[0]} + b[1] > fft_size / 2 + 1) return false;
      weights += b[1];
    }
    return weights <= c.input(4).dim(0);
  }

  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &bands = c.input(3), &y = c.output(0);
    audio::Mel m{};
    m.window = c.input(1).as<const int16_t>();
    m.quarter = c.input(2).as<const int32_t>();
    m.window_size = c.input(1).dim(0);
    m.fft_size = (c.input(2).dim(0) - 1) * 4;
    m.preemphasis = a.preemphasis;
    m.magnitude = a.magnitude != 0;
    if (!sound(c, m.fft_size)) return {Status::kInvalidArgument, Why::kIndexRange};
    int32_t* z = c.output(1).as<int32_t>();
    if (y.dim(0) == 0) std::memset(z, 0, sizeof(int32_t) * static_cast<size_t>(m.fft_size + 2));
    const T* samples = x.as<const T>();
    for (int32_t t = 0; t < y.dim(0); ++t) {
      const int32_t at = a.lead + t * a.step;
      audio::load_frame(m, samples + at, at > 0 ? samples[at - 1] : T{0}, z);
      audio::spectrum(m, z);
      const uint16_t* weights = c.input(4).as<const uint16_t>();
      uint32_t* out = y.at<uint32_t>(t * y.stride(0));
      for (int32_t n = 0; n < y.dim(1); ++n) {
        const int32_t* band = bands.at<const int32_t>(n * bands.stride(0));
        out[n] = audio::mel_channel(m, z, band, weights);
        weights += band[1];
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::audio_mel, Bands>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::audio_mel
