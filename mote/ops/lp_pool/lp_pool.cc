#include "mote/ops/lp_pool/lp_pool.h"

#include <cmath>

#include "mote/ops/common/long_sum.h"

namespace mote::ops::lp_pool {
namespace {

template <class T>
struct LpPool {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const C p = static_cast<C>(a.p);
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t channels = y.dim(y.rank() - 1);
    const Window window = make_window(a, *x.desc, a.kernel, *y.desc);
    WindowWalk walk(window, *y.desc, c.rows);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      for (int32_t i = 0; i < channels; ++i) {
        LongSum<C> sum;
        walk.taps([&](const Tap& t) {
          const C v = std::fabs(static_cast<C>(x.at<const T>(walk.input_offset(*x.desc, t))[i]));
          sum.add(p == 1 ? v : p == 2 ? v * v : std::pow(v, p));
        });
        out[i] = static_cast<T>(p == 1 ? sum.value() : p == 2 ? std::sqrt(sum.value()) : std::pow(sum.value(), 1 / p));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::lp_pool, LpPool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::lp_pool
