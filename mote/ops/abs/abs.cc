#include "mote/ops/abs/abs.h"

#include <cmath>

#include "mote/ops/common/wrap.h"

namespace mote::ops::abs {
namespace {

struct Abs {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) return x < C(0) ? wrap_sub(C(0), x) : x;
    else return std::fabs(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::abs, Abs, Attrs>(c, Types{}); }

}  // namespace mote::ops::abs
