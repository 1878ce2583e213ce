#include "mote/ops/cos/cos.h"

#include <cmath>

namespace mote::ops::cos {
namespace {

struct Cos {
  template <class C>
  C operator()(C x) const {
    return std::cos(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::cos, Cos, Attrs>(c, Types{}); }

}  // namespace mote::ops::cos
