#include "mote/ops/floor_div/floor_div.h"

#include <cmath>

#include "mote/ops/common/integer_math.h"

namespace mote::ops::floor_div {
namespace {

struct FloorDiv {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      const C q = quotient_to_zero(a, b);
      return signs_differ(remainder_of_dividend(a, b), b) ? wrap_sub(q, C(1)) : q;
    } else {
      if (b == C(0)) return a / b;
      // a - r is a multiple of b, so the quotient is whole up to rounding: 1 // 0.1 is 9, where floor(1 / 0.1) would say 10.
      const C r = std::fmod(a, b);
      const C q = (a - r) / b - (signs_differ(r, b) ? C(1) : C(0));
      return q == C(0) ? std::copysign(C(0), a / b) : std::round(q);
    }
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::floor_div, FloorDiv, Attrs>(c, Types{}); }

}  // namespace mote::ops::floor_div
