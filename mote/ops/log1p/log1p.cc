#include "mote/ops/log1p/log1p.h"

#include <cmath>

namespace mote::ops::log1p {
namespace {

struct Log1p {
  template <class C>
  C operator()(C x) const {
    return std::log1p(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::log1p, Log1p, Attrs>(c, Types{}); }

}  // namespace mote::ops::log1p
