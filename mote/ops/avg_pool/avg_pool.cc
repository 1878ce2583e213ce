#include "mote/ops/avg_pool/avg_pool.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::avg_pool {
namespace {

template <class T>
struct AvgPool {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t channels = y.dim(y.rank() - 1);
    const Window window = make_window(a, *x.desc, a.kernel, *y.desc);
    WindowWalk walk(window, *y.desc, c.rows);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      const int32_t valid = walk.valid_taps();
      const int32_t divisor = a.divisor_override != 0 ? a.divisor_override : a.count_include_pad != 0 ? walk.padded_taps() : valid;
      for (int32_t i = 0; i < channels; ++i) {
        LongSum<C> sum;
        walk.taps([&](const Tap& t) { sum.add(x.at<const T>(walk.input_offset(*x.desc, t))[i]); });
        out[i] = static_cast<T>(valid > 0 ? sum.value() / static_cast<C>(divisor) : C(0));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::avg_pool, AvgPool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::avg_pool
