#include "mote/ops/neg/neg.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::neg {
namespace {

struct Neg {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_integral_v<C>) return wrap_sub(C(0), x);
    else return -x;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::neg, Neg, Attrs>(c, Types{}); }

}  // namespace mote::ops::neg
