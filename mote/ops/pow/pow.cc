#include "mote/ops/pow/pow.h"

#include <cmath>

#include "mote/ops/common/integer_math.h"

namespace mote::ops::pow {
namespace {

struct Pow {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) return integer_power(a, b);
    else return std::pow(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::pow, Pow, Attrs>(c, Types{}); }

}  // namespace mote::ops::pow
