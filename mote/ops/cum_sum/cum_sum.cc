#include "mote/ops/cum_sum/cum_sum.h"

#include "mote/ops/common/long_sum.h"

namespace mote::ops::cum_sum {
namespace {

template <class T>
struct CumSum {
  static Status run(const OpContext& c) noexcept { return run_scan<T, LongSum<Compute<T>>>(c); }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::cum_sum, CumSum>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::cum_sum
