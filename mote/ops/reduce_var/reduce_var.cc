#include "mote/ops/reduce_var/reduce_var.h"

#include <cmath>
#include <limits>

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_var {
namespace {

template <class T>
struct ReduceVar {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    return run_reduce<T>(c, a, [&a](const Reduced<T>& x) {
      using C = Compute<T>;
      if (x.count() == 0) return std::numeric_limits<C>::quiet_NaN();
      LongSum<C> sum;
      x.each([&](C v) { sum.add(v); });
      const C n = static_cast<C>(x.count()), mean = sum.value() / n;
      LongSum<C> squares;
      x.each([&](C v) { squares.add_square(v - mean); });
      const C variance = squares.value() / std::fmax(C(0), n - static_cast<C>(a.correction));
      return a.root != 0 ? std::sqrt(variance) : variance;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_var, ReduceVar>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_var
