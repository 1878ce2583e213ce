#include "mote/ops/sub/sub.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::sub {
namespace {

struct Sub {
  template <class C>
  C operator()(C a, C b) const {
    return wrap_sub(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::sub, Sub, Attrs>(c, Types{}); }

}  // namespace mote::ops::sub
