#include "mote/ops/erf/erf.h"

#include <cmath>

namespace mote::ops::erf {
namespace {

struct Erf {
  template <class C>
  C operator()(C x) const {
    return std::erf(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::erf, Erf, Attrs>(c, Types{}); }

}  // namespace mote::ops::erf
