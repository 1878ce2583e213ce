#include "mote/ops/hard_sigmoid/hard_sigmoid.h"

namespace mote::ops::hard_sigmoid {
namespace {

struct HardSigmoid {
  explicit HardSigmoid(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    const C line = C(attrs.alpha) * x + C(attrs.beta);
    return line < C(0) ? C(0) : line > C(1) ? C(1) : line;
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::hard_sigmoid, HardSigmoid, Attrs>(c, Types{}); }

}  // namespace mote::ops::hard_sigmoid
