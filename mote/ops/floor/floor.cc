#include "mote/ops/floor/floor.h"

#include <cmath>

namespace mote::ops::floor {
namespace {

struct Floor {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) return x;
    else return std::floor(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::floor, Floor, Attrs>(c, Types{}); }

}  // namespace mote::ops::floor
