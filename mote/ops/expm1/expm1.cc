#include "mote/ops/expm1/expm1.h"

#include <cmath>

namespace mote::ops::expm1 {
namespace {

struct Expm1 {
  template <class C>
  C operator()(C x) const {
    return std::expm1(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::expm1, Expm1, Attrs>(c, Types{}); }

}  // namespace mote::ops::expm1
