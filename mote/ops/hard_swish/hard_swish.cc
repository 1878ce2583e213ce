#include "mote/ops/hard_swish/hard_swish.h"

namespace mote::ops::hard_swish {
namespace {

struct HardSwish {
  template <class C>
  C operator()(C x) const {
    const C gate = x + C(3);
    return x * ((gate < C(0) ? C(0) : gate > C(6) ? C(6) : gate) / C(6));
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::hard_swish, HardSwish, Attrs>(c, Types{}); }

}  // namespace mote::ops::hard_swish
