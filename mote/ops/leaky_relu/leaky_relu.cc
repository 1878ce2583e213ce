#include "mote/ops/leaky_relu/leaky_relu.h"

namespace mote::ops::leaky_relu {
namespace {

struct LeakyRelu {
  explicit LeakyRelu(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    return x > C(0) ? x : x * C(attrs.negative_slope);
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::leaky_relu, LeakyRelu, Attrs>(c, Types{}); }

}  // namespace mote::ops::leaky_relu
