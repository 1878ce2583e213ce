#include "mote/ops/reduce_sum_square/reduce_sum_square.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_sum_square {
namespace {

template <class T>
struct ReduceSumSquare {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      LongSum<Compute<T>> sum;
      x.each([&](Compute<T> v) { sum.add_square(v); });
      return sum.value();
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_sum_square, ReduceSumSquare>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_sum_square
