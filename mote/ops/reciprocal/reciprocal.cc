#include "mote/ops/reciprocal/reciprocal.h"

namespace mote::ops::reciprocal {
namespace {

struct Reciprocal {
  template <class C>
  C operator()(C x) const {
    return C(1) / x;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::reciprocal, Reciprocal, Attrs>(c, Types{}); }

}  // namespace mote::ops::reciprocal
