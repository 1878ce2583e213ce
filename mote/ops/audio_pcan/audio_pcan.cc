#include "mote/ops/audio_pcan/audio_pcan.h"

namespace mote::ops::audio_pcan {
namespace {

template <class T>
struct Gain {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const audio::Pcan p{{a.even_smoothing, a.odd_smoothing}, a.least, a.strength, a.offset, a.bias};
    const Tensor &x = c.input(1), &y = c.output(1);
    const T* old = c.input(0).as<const T>();
    T* noise = c.output(0).as<T>();
    for (int32_t n = 0; n < x.dim(1); ++n) noise[n] = old[n];
    for (int32_t t = 0; t < x.dim(0); ++t) {
      const T* in = x.at<const T>(t * x.stride(0));
      T* out = y.at<T>(t * y.stride(0));
      for (int32_t n = 0; n < x.dim(1); ++n) out[n] = audio::pcan(p, n, in[n], noise + n);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::audio_pcan, Gain>(c.input(1).dtype(), Types{}); }

}  // namespace mote::ops::audio_pcan
