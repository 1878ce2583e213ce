#include "mote/ops/softplus/softplus.h"

#include <cmath>

namespace mote::ops::softplus {
namespace {

struct Softplus {
  explicit Softplus(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    const C z = x * C(attrs.beta);
    if (attrs.threshold > 0 && z > C(attrs.threshold)) return x;
    // The exponent is never positive, so nothing overflows.
    return (z > C(0) ? x : C(0)) + std::log1p(std::exp(-std::fabs(z))) / C(attrs.beta);
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::softplus, Softplus, Attrs>(c, Types{}); }

}  // namespace mote::ops::softplus
