#include "mote/ops/tan/tan.h"

#include <cmath>

namespace mote::ops::tan {
namespace {

struct Tan {
  template <class C>
  C operator()(C x) const {
    return std::tan(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::tan, Tan, Attrs>(c, Types{}); }

}  // namespace mote::ops::tan
