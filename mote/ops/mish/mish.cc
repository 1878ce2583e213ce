#include "mote/ops/mish/mish.h"

#include <cmath>

namespace mote::ops::mish {
namespace {

struct Mish {
  template <class C>
  C operator()(C x) const {
    return x * std::tanh(std::log1p(std::exp(x)));
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::mish, Mish, Attrs>(c, Types{}); }

}  // namespace mote::ops::mish
