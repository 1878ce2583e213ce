#include "mote/ops/reduce_l2/reduce_l2.h"

#include <cmath>

#include "mote/ops/common/long_sum.h"

namespace mote::ops::reduce_l2 {
namespace {

template <class T>
struct ReduceL2 {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      LongSum<Compute<T>> sum;
      x.each([&](Compute<T> v) { sum.add_square(v); });
      if constexpr (is_float_v<T>) return std::sqrt(sum.value());
      else return static_cast<uint64_t>(std::sqrt(static_cast<double>(static_cast<uint64_t>(sum.value()))));
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_l2, ReduceL2>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_l2
