#include "mote/ops/requantize/requantize.h"

namespace mote::ops::requantize {
namespace {

template <class T>
struct Requantize {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &multiplier = c.input(1), &y = c.output(0);
    const Strides xs(*x.desc), ms(*multiplier.desc), ys(*y.desc);
    const IntRange range = clamp_range(a.clamp_lo, a.clamp_hi, y.dtype());
    const int32_t width = static_cast<int32_t>(dtype_bytes(y.dtype()));
    QuantWalk walk(*y.desc, a.axis, 0, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset(*x.desc, xs));
      const int32_t out = walk.offset(*y.desc, ys);
      for (int32_t i = 0; i < walk.length; ++i) {
        const int32_t v = wrap_to_s32(int64_t{in[i]} - a.input_zero), at = walk.parameter(*multiplier.desc, ms, i);
        const int32_t scaled = c.has_input(2) ? scale_by(v, *multiplier.at<const int32_t>(at), *c.input(2).at<const int32_t>(at))
                                              : round_to_s32(static_cast<float>(v) * *multiplier.at<const float>(at));
        store_int(y, out + i * width, clamp_to(int64_t{scaled} + a.output_zero, range));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::requantize, Requantize>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::requantize
