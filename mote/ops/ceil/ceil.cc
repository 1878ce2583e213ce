#include "mote/ops/ceil/ceil.h"

#include <cmath>

namespace mote::ops::ceil {
namespace {

struct Ceil {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) return x;
    else return std::ceil(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::ceil, Ceil, Attrs>(c, Types{}); }

}  // namespace mote::ops::ceil
