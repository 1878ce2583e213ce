#include "mote/ops/maximum/maximum.h"

#include "mote/ops/common/ordering.h"

namespace mote::ops::maximum {
namespace {

struct Maximum {
  template <class C>
  C operator()(C a, C b) const {
    return first_of<Above>(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::maximum, Maximum, Attrs>(c, Types{}); }

}  // namespace mote::ops::maximum
