#include "mote/ops/local_response_norm/local_response_norm.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::local_response_norm {
namespace {

template <class T>
struct LocalResponseNorm {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t before = a.even_before != 0 ? a.size / 2 : (a.size - 1) / 2, after = a.size - 1 - before;
    const C alpha = static_cast<C>(a.alpha) / static_cast<C>(a.size);
    RowWalk<2> walk(*y.desc, {x.desc, y.desc}, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[1]);
      for (int32_t i = 0; i < walk.length; ++i) {
        const int32_t first = i > before ? i - before : 0, last = after < walk.length - 1 - i ? i + after : walk.length - 1;
        C sum = 0;
        for (int32_t k = first; k <= last; ++k) sum += static_cast<C>(in[k]) * static_cast<C>(in[k]);
        out[i] = static_cast<T>(static_cast<C>(in[i]) / std::pow(static_cast<C>(a.bias) + alpha * sum, static_cast<C>(a.beta)));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::local_response_norm, LocalResponseNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::local_response_norm
