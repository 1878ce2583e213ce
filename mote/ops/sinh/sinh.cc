#include "mote/ops/sinh/sinh.h"

#include <cmath>

namespace mote::ops::sinh {
namespace {

struct Sinh {
  template <class C>
  C operator()(C x) const {
    return std::sinh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::sinh, Sinh, Attrs>(c, Types{}); }

}  // namespace mote::ops::sinh
