#include "mote/ops/asinh/asinh.h"

#include <cmath>

namespace mote::ops::asinh {
namespace {

struct Asinh {
  template <class C>
  C operator()(C x) const {
    return std::asinh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::asinh, Asinh, Attrs>(c, Types{}); }

}  // namespace mote::ops::asinh
