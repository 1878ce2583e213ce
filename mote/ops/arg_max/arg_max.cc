#include "mote/ops/arg_max/arg_max.h"

namespace mote::ops::arg_max {
namespace {

template <class T>
struct ArgMax {
  static Status run(const OpContext& c) noexcept { return run_arg<Above, T>(c); }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::arg_max, ArgMax>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::arg_max
