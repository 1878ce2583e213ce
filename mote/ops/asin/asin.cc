#include "mote/ops/asin/asin.h"

#include <cmath>

namespace mote::ops::asin {
namespace {

struct Asin {
  template <class C>
  C operator()(C x) const {
    return std::asin(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::asin, Asin, Attrs>(c, Types{}); }

}  // namespace mote::ops::asin
