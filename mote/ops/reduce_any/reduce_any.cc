#include "mote/ops/reduce_any/reduce_any.h"

namespace mote::ops::reduce_any {
namespace {

template <class T>
struct ReduceAny {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T, bool>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      bool any = false;
      x.each([&](Compute<T> v) { any = any || v != Compute<T>(0); });
      return any;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_any, ReduceAny>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_any
