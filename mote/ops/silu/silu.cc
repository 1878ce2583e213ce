#include "mote/ops/silu/silu.h"

#include "mote/ops/common/logistic.h"

namespace mote::ops::silu {
namespace {

struct Silu {
  explicit Silu(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    return x * logistic(C(attrs.alpha) * x);
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::silu, Silu, Attrs>(c, Types{}); }

}  // namespace mote::ops::silu
