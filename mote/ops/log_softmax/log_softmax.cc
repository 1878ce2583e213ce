#include "mote/ops/log_softmax/log_softmax.h"

#include <cmath>

#include "mote/ops/common/long_sum.h"

namespace mote::ops::log_softmax {
namespace {

template <class T>
struct LogSoftmax {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Tensor &x = c.input(0), &y = c.output(0);
    const int32_t wanted = c.attrs<Attrs>().axis;
    const int axis = wanted < 0 ? wanted + x.rank() : wanted;
    const int32_t n = x.rank() > 0 ? x.dim(axis) : 1;
    if (n == 0) return Status::kOk;
    AxisWalk<2> walk(*x.desc, axis, {x.desc, y.desc});
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[1]);
      const int32_t is = walk.stride[0], os = walk.stride[1];
      C peak = line_at(in, 0, is);
      for (int32_t i = 1; i < n; ++i) peak = std::fmax(peak, static_cast<C>(line_at(in, i, is)));
      LongSum<C> sum;
      for (int32_t i = 0; i < n; ++i) sum.add(std::exp(static_cast<C>(line_at(in, i, is)) - peak));
      const C log_sum = std::log(sum.value());
      for (int32_t i = 0; i < n; ++i) line_at(out, i, os) = static_cast<T>(static_cast<C>(line_at(in, i, is)) - peak - log_sum);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::log_softmax, LogSoftmax>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::log_softmax
