#include "mote/ops/col2im/col2im.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::col2im {
namespace {

// The window that spreads the positions of x over the image: a convolution's, turned round.
Window spreading_window(const Attrs& a, const TensorDesc& y) noexcept {
  Window w = make_window(a, y, a.kernel);
  w.transposed = true;
  for (int i = 0; i < w.rank; ++i) {
    WindowDim& d = w.dim[i];
    d.out = d.in;
    d.in = static_cast<int32_t>((static_cast<int64_t>(d.out) + d.pad_begin + d.pad_end - d.extent()) / d.stride) + 1;
  }
  return w;
}

template <class T>
struct Col2Im {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t channels = x.dim(3);
    bool known;
    const Attrs a = resolve(c, c.attrs<Attrs>(), &known);
    const Window window = spreading_window(a, *y.desc);
    WindowWalk walk(window, *y.desc);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      for (int32_t i = 0; i < channels; ++i) {
        C sum = 0;
        walk.taps([&](const Tap& t) {
          const int32_t at = walk.batch() * x.stride(0) + walk.plane_index(t) * x.stride(1) + t.index * x.stride(2);
          sum = wrap_add(sum, static_cast<C>(x.at<const T>(at)[i]));
        });
        out[i] = static_cast<T>(sum);
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::col2im, Col2Im>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::col2im
