#include "mote/ops/reduce_max/reduce_max.h"

#include "mote/ops/common/ordering.h"

namespace mote::ops::reduce_max {
namespace {

template <class T>
struct ReduceMax {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      Compute<T> best = Above::last<Compute<T>>();
      x.each([&](Compute<T> v) { best = first_of<Above>(best, v); });
      return best;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_max, ReduceMax>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_max
