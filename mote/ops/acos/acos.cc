#include "mote/ops/acos/acos.h"

#include <cmath>

namespace mote::ops::acos {
namespace {

struct Acos {
  template <class C>
  C operator()(C x) const {
    return std::acos(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::acos, Acos, Attrs>(c, Types{}); }

}  // namespace mote::ops::acos
