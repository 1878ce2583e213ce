#include "mote/ops/exp2/exp2.h"

#include <cmath>

namespace mote::ops::exp2 {
namespace {

struct Exp2 {
  template <class C>
  C operator()(C x) const {
    return std::exp2(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::exp2, Exp2, Attrs>(c, Types{}); }

}  // namespace mote::ops::exp2
