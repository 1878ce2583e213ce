#include "mote/ops/reduce_log_sum_exp/reduce_log_sum_exp.h"

#include <cmath>
#include <limits>

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_log_sum_exp {
namespace {

template <class T>
struct ReduceLogSumExp {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      using C = Compute<T>;
      C peak = -std::numeric_limits<C>::infinity();
      x.each([&](C v) { peak = std::fmax(peak, v); });
      if (std::isinf(peak)) peak = 0;
      LongSum<C> sum;
      x.each([&](C v) { sum.add(std::exp(v - peak)); });
      return peak + std::log(sum.value());
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_log_sum_exp, ReduceLogSumExp>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_log_sum_exp
