#include "mote/ops/acosh/acosh.h"

#include <cmath>

namespace mote::ops::acosh {
namespace {

struct Acosh {
  template <class C>
  C operator()(C x) const {
    return std::acosh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::acosh, Acosh, Attrs>(c, Types{}); }

}  // namespace mote::ops::acosh
