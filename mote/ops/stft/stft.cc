#include "mote/ops/stft/stft.h"

namespace mote::ops::stft {
namespace {

template <class T>
struct Stft {
  using C = Compute<T>;
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    if (y.count() == 0) return Status::kOk;
    const int32_t n = frame_length(c);
    const T* window = c.has_input(1) ? c.input(1).as<const T>() : nullptr;
    const bool complex = x.rank() == 3 && x.dim(2) == 2;
    Fourier<C> fourier(n, false, c.scratch.data);
    for (int32_t b = 0; b < y.dim(0); ++b) {
      for (int32_t f = 0; f < y.dim(1); ++f) {
        for (int32_t i = 0; i < n; ++i) {
          const T* p = x.at<const T>(b * x.stride(0) + (f * a.frame_step + i) * x.stride(1));
          const C w = window != nullptr ? static_cast<C>(window[i]) : C(1);
          fourier.input()[i] = {static_cast<C>(p[0]) * w, complex ? static_cast<C>(p[1]) * w : C(0)};
        }
        const Complex<C>* result = fourier.transform();
        for (int32_t k = 0; k < y.dim(2); ++k) {
          T* out = y.at<T>(b * y.stride(0) + f * y.stride(1) + k * y.stride(2));
          out[0] = static_cast<T>(result[k].re);
          out[1] = static_cast<T>(result[k].im);
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

Scratch scratch(const OpContext& c) noexcept {
  return scratch_numbers(Fourier<float>::scratch_numbers(frame_length(c)), c.input(0).dtype());
}
KernelFn select(const OpContext& c) noexcept { return pick<OpId::stft, Stft>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::stft
