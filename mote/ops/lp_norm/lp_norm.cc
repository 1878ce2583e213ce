#include "mote/ops/lp_norm/lp_norm.h"

#include "mote/ops/common/axis_walk.h"

namespace mote::ops::lp_norm {
namespace {

// The p-th root of a sum of powers, with epsilon in its place.
template <class C>
C divisor_of(const Attrs& a, C sum) noexcept {
  const C p = static_cast<C>(a.p), epsilon = static_cast<C>(a.epsilon);
  if (a.epsilon_mode == 1 && sum < epsilon) sum = epsilon;
  if (a.epsilon_mode == 2) sum += epsilon;
  const C norm = p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  return a.epsilon_mode == 0 && norm < epsilon ? epsilon : norm;
}

template <class T>
struct LpNorm {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const C p = static_cast<C>(a.p);
    const Tensor &x = c.input(0), &y = c.output(0);
    const int axis = positive_axis(a.axis, x.rank());
    const int32_t n = size_along(*x.desc, axis);
    AxisWalk<2> walk(*x.desc, axis, {x.desc, y.desc});
    while (n > 0 && walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[1]);
      LongSum<C> sum;
      for (int32_t i = 0; i < n; ++i) {
        const C v = std::fabs(static_cast<C>(line_at(in, i, walk.stride[0])));
        sum.add(p == 1 ? v : p == 2 ? v * v : std::pow(v, p));
      }
      const C divisor = divisor_of(a, sum.value());
      for (int32_t i = 0; i < n; ++i) {
        const C v = line_at(in, i, walk.stride[0]);
        line_at(out, i, walk.stride[1]) = static_cast<T>(divisor == 0 ? C(0) : v / divisor);
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::lp_norm, LpNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::lp_norm
