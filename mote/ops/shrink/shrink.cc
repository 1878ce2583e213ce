#include "mote/ops/shrink/shrink.h"

#include <cmath>

namespace mote::ops::shrink {
namespace {

struct Shrink {
  explicit Shrink(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    const C bound = C(attrs.lambd), bias = C(attrs.bias);
    if (x < -bound) return x + bias;
    if (x > bound) return x - bias;
    return std::isnan(x) ? x : C(0);
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::shrink, Shrink, Attrs>(c, Types{}); }

}  // namespace mote::ops::shrink
