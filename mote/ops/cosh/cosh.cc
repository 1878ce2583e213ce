#include "mote/ops/cosh/cosh.h"

#include <cmath>

namespace mote::ops::cosh {
namespace {

struct Cosh {
  template <class C>
  C operator()(C x) const {
    return std::cosh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::cosh, Cosh, Attrs>(c, Types{}); }

}  // namespace mote::ops::cosh
