#include "mote/ops/reduce_mean/reduce_mean.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_mean {
namespace {

template <class T>
struct ReduceMean {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      LongSum<Compute<T>> sum;
      x.each([&](Compute<T> v) { sum.add(v); });
      if constexpr (is_float_v<T>) return sum.value() / static_cast<Compute<T>>(x.count());
      else return x.count() > 0 ? sum.value() / x.count() : 0;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_mean, ReduceMean>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_mean
