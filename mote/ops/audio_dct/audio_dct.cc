#include "mote/ops/audio_dct/audio_dct.h"

namespace mote::ops::audio_dct {
namespace {

template <class T, class Y>
void rows(const OpContext& c, const audio::Scale& scale) noexcept {
  const Tensor &x = c.input(0), &matrix = c.input(1), &y = c.output(0);
  for (int32_t r = 0; r < y.dim(0); ++r) {
    const T* in = x.at<const T>(r * x.stride(0));
    Y* out = y.at<Y>(r * y.stride(0));
    for (int32_t k = 0; k < y.dim(1); ++k)
      out[k] = static_cast<Y>(audio::scaled(scale, audio::dot(in, matrix.at<const T>(k * matrix.stride(0)), x.dim(1))));
  }
}

template <class T>
struct Product {
  static Status run(const OpContext& c) noexcept {
    const audio::Scale scale = scale_of(c.attrs<Attrs>());
    switch (c.output(0).dtype()) {
      case DType::s8: rows<T, int8_t>(c, scale); break;
      case DType::u8: rows<T, uint8_t>(c, scale); break;
      default: rows<T, int16_t>(c, scale); break;
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::audio_dct, Product>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::audio_dct
