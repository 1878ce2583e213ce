#include "mote/ops/gelu/gelu.h"

#include <cmath>

namespace mote::ops::gelu {
namespace {

struct Exact {
  explicit Exact(const Attrs&) {}
  template <class C>
  C operator()(C x) const {
    // 1 + erf(z) is erfc(-z), which does not cancel where z is negative.
    return C(0.5) * x * std::erfc(x * C(-0.70710678118654752));
  }
};

struct ByTanh {
  explicit ByTanh(const Attrs&) {}
  template <class C>
  C operator()(C x) const {
    const C z = C(0.79788456080286536) * (x + C(0.044715) * x * x * x);
    return C(0.5) * x * (C(1) + std::tanh(z));
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept {
  return c.attrs<Attrs>().approximate == 0 ? pick_unary<OpId::gelu, Exact, Attrs>(c, Types{})
                                           : pick_unary<OpId::gelu, ByTanh, Attrs>(c, Types{});
}

}  // namespace mote::ops::gelu
