#include "mote/ops/minimum/minimum.h"

#include "mote/ops/common/ordering.h"

namespace mote::ops::minimum {
namespace {

struct Minimum {
  template <class C>
  C operator()(C a, C b) const {
    return first_of<Below>(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::minimum, Minimum, Attrs>(c, Types{}); }

}  // namespace mote::ops::minimum
