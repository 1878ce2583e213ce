#include "mote/ops/reduce_l1/reduce_l1.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_l1 {
namespace {

template <class T>
struct ReduceL1 {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      LongSum<Compute<T>> sum;
      x.each([&](Compute<T> v) { sum.add_magnitude(v); });
      return sum.value();
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_l1, ReduceL1>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_l1
