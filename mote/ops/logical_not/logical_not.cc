#include "mote/ops/logical_not/logical_not.h"

namespace mote::ops::logical_not {
namespace {

struct IsZero {
  template <class C>
  bool operator()(C x) const {
    return x == C(0);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::logical_not, IsZero>(c, Types{}); }

}  // namespace mote::ops::logical_not
