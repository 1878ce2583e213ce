#include "mote/ops/atanh/atanh.h"

#include <cmath>

namespace mote::ops::atanh {
namespace {

struct Atanh {
  template <class C>
  C operator()(C x) const {
    return std::atanh(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::atanh, Atanh, Attrs>(c, Types{}); }

}  // namespace mote::ops::atanh
