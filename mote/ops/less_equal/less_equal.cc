#include "mote/ops/less_equal/less_equal.h"

namespace mote::ops::less_equal {
namespace {

struct LessEqual {
  template <class C>
  bool operator()(C a, C b) const {
    return a <= b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::less_equal, LessEqual, Attrs>(c, Types{}); }

}  // namespace mote::ops::less_equal
