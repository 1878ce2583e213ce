#include "mote/ops/quantize/quantize.h"

namespace mote::ops::quantize {
namespace {

template <class T>
struct Quantize {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &scale = c.input(1), &y = c.output(0);
    const Tensor* zero = c.has_input(2) ? &c.input(2) : nullptr;
    const Strides xs(*x.desc), ss(*scale.desc), zs(zero != nullptr ? *zero->desc : *scale.desc), ys(*y.desc);
    const IntRange range = int_range(y.dtype());
    const int32_t width = static_cast<int32_t>(dtype_bytes(y.dtype()));
    QuantWalk walk(*y.desc, a.axis, a.block, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset(*x.desc, xs));
      const int32_t out = walk.offset(*y.desc, ys);
      for (int32_t i = 0; i < walk.length; ++i) {
        const C s = static_cast<C>(*scale.at<const float>(walk.parameter(*scale.desc, ss, i)));
        const int32_t z = zero != nullptr ? load_int(*zero, walk.parameter(*zero->desc, zs, i)) : 0;
        store_int(y, out + i * width, quantize_value(static_cast<C>(in[i]) / s, z, range, static_cast<Rounding>(a.rounding)));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::quantize, Quantize>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::quantize
