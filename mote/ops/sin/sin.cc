#include "mote/ops/sin/sin.h"

#include <cmath>

namespace mote::ops::sin {
namespace {

struct Sin {
  template <class C>
  C operator()(C x) const {
    return std::sin(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::sin, Sin, Attrs>(c, Types{}); }

}  // namespace mote::ops::sin
