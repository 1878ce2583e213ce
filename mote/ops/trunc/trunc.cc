#include "mote/ops/trunc/trunc.h"

#include <cmath>

namespace mote::ops::trunc {
namespace {

struct Trunc {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) return x;
    else return std::trunc(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::trunc, Trunc, Attrs>(c, Types{}); }

}  // namespace mote::ops::trunc
