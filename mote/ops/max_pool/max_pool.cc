#include "mote/ops/max_pool/max_pool.h"

#include <limits>

namespace mote::ops::max_pool {
namespace {

template <class C>
constexpr C lowest() {
  return std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();
}

template <class T>
struct MaxPool {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t channels = y.dim(y.rank() - 1);
    const Window window = make_window(a, *x.desc, a.kernel, *y.desc);
    WindowWalk walk(window, *y.desc, c.rows);
    while (walk.next()) {
      T* out = y.at<T>(walk.output_offset(*y.desc));
      int64_t* where = c.has_output(1) ? c.output(1).at<int64_t>(walk.output_offset(*c.output(1).desc)) : nullptr;
      for (int32_t i = 0; i < channels; ++i) {
        C best = lowest<C>();
        int32_t best_at = -1;
        walk.taps([&](const Tap& t) {
          const C v = x.at<const T>(walk.input_offset(*x.desc, t))[i];
          if (v > best || v != v || best_at < 0) {
            best = v;
            best_at = walk.plane_index(t);
          }
        });
        out[i] = static_cast<T>(best);
        if (where != nullptr) where[i] = best_at < 0 ? 0 : best_at;
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::max_pool, MaxPool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::max_pool
