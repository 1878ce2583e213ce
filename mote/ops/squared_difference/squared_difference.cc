#include "mote/ops/squared_difference/squared_difference.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::squared_difference {
namespace {

struct SquaredDifference {
  template <class C>
  C operator()(C a, C b) const {
    const C d = wrap_sub(a, b);
    return wrap_mul(d, d);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::squared_difference, SquaredDifference, Attrs>(c, Types{}); }

}  // namespace mote::ops::squared_difference
