#include "mote/ops/less/less.h"

namespace mote::ops::less {
namespace {

struct Less {
  template <class C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::less, Less, Attrs>(c, Types{}); }

}  // namespace mote::ops::less
