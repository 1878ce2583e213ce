#include "mote/ops/tanh/tanh.h"

#include <cmath>

namespace mote::ops::tanh {
namespace {

struct Tanh {
  template <class C>
  C operator()(C x) const {
    return std::tanh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::tanh, Tanh, Attrs>(c, Types{}); }

}  // namespace mote::ops::tanh
