#include "mote/ops/not_equal/not_equal.h"

namespace mote::ops::not_equal {
namespace {

struct NotEqual {
  template <class C>
  bool operator()(C a, C b) const {
    return a != b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::not_equal, NotEqual, Attrs>(c, Types{}); }

}  // namespace mote::ops::not_equal
