#include "mote/ops/div/div.h"

#include <cmath>

#include "mote/ops/common/integer_math.h"

namespace mote::ops::div {
namespace {

struct Div {
  explicit Div(const Attrs& a) : to_zero(a.rounding == kToZero) {}
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) return quotient_to_zero(a, b);
    else return to_zero ? std::trunc(a / b) : a / b;
  }
  bool to_zero;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::div, Div, Attrs>(c, Types{}); }

}  // namespace mote::ops::div
