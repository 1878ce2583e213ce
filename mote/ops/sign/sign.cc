#include "mote/ops/sign/sign.h"

namespace mote::ops::sign {
namespace {

struct Sign {
  template <class C>
  C operator()(C x) const {
    return x > C(0) ? C(1) : x < C(0) ? static_cast<C>(-1) : C(0);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::sign, Sign, Attrs>(c, Types{}); }

}  // namespace mote::ops::sign
