#include "mote/ops/exp/exp.h"

#include <cmath>

namespace mote::ops::exp {
namespace {

struct Exp {
  template <class C>
  C operator()(C x) const {
    return std::exp(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::exp, Exp, Attrs>(c, Types{}); }

}  // namespace mote::ops::exp
