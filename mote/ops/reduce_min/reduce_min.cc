#include "mote/ops/reduce_min/reduce_min.h"

#include "mote/ops/common/ordering.h"

namespace mote::ops::reduce_min {
namespace {

template <class T>
struct ReduceMin {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      Compute<T> best = Below::last<Compute<T>>();
      x.each([&](Compute<T> v) { best = first_of<Below>(best, v); });
      return best;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_min, ReduceMin>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_min
