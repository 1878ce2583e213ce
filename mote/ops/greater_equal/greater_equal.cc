#include "mote/ops/greater_equal/greater_equal.h"

namespace mote::ops::greater_equal {
namespace {

struct GreaterEqual {
  template <class C>
  bool operator()(C a, C b) const {
    return a >= b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::greater_equal, GreaterEqual, Attrs>(c, Types{}); }

}  // namespace mote::ops::greater_equal
