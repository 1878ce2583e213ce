#include "mote/ops/equal/equal.h"

namespace mote::ops::equal {
namespace {

struct Equal {
  template <class C>
  bool operator()(C a, C b) const {
    return a == b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::equal, Equal, Attrs>(c, Types{}); }

}  // namespace mote::ops::equal
