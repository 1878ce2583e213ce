#include "mote/ops/elu/elu.h"

#include <cmath>

namespace mote::ops::elu {
namespace {

struct Elu {
  explicit Elu(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    if (x > C(0)) return x * C(attrs.scale);
    return std::expm1(x * C(attrs.input_scale)) * (C(attrs.alpha) * C(attrs.scale));
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::elu, Elu, Attrs>(c, Types{}); }

}  // namespace mote::ops::elu
