#include "mote/ops/rsqrt/rsqrt.h"

#include <cmath>

namespace mote::ops::rsqrt {
namespace {

struct Rsqrt {
  template <class C>
  C operator()(C x) const {
    return C(1) / std::sqrt(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::rsqrt, Rsqrt, Attrs>(c, Types{}); }

}  // namespace mote::ops::rsqrt
