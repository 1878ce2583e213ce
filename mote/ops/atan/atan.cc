#include "mote/ops/atan/atan.h"

#include <cmath>

namespace mote::ops::atan {
namespace {

struct Atan {
  template <class C>
  C operator()(C x) const {
    return std::atan(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::atan, Atan, Attrs>(c, Types{}); }

}  // namespace mote::ops::atan
