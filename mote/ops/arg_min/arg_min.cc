#include "mote/ops/arg_min/arg_min.h"

namespace mote::ops::arg_min {
namespace {

template <class T>
struct ArgMin {
  static Status run(const OpContext& c) noexcept { return run_arg<Below, T>(c); }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::arg_min, ArgMin>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::arg_min
