#include "mote/ops/reduce_all/reduce_all.h"

namespace mote::ops::reduce_all {
namespace {

template <class T>
struct ReduceAll {
  static Status run(const OpContext& c) noexcept {
    return run_reduce<T, bool>(c, c.attrs<Attrs>(), [](const Reduced<T>& x) {
      bool all = true;
      x.each([&](Compute<T> v) { all = all && v != Compute<T>(0); });
      return all;
    });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::reduce_all, ReduceAll>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::reduce_all
