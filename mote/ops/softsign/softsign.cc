#include "mote/ops/softsign/softsign.h"

#include <cmath>

namespace mote::ops::softsign {
namespace {

struct Softsign {
  template <class C>
  C operator()(C x) const {
    return x / (C(1) + std::fabs(x));
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::softsign, Softsign, Attrs>(c, Types{}); }

}  // namespace mote::ops::softsign
