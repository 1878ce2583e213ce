#include "mote/ops/sqrt/sqrt.h"

#include <cmath>

namespace mote::ops::sqrt {
namespace {

struct Sqrt {
  template <class C>
  C operator()(C x) const {
    return std::sqrt(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::sqrt, Sqrt, Attrs>(c, Types{}); }

}  // namespace mote::ops::sqrt
