#include "mote/ops/atan2/atan2.h"

#include <cmath>

namespace mote::ops::atan2 {
namespace {

struct Atan2 {
  template <class C>
  C operator()(C y, C x) const {
    return std::atan2(y, x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::atan2, Atan2, Attrs>(c, Types{}); }

}  // namespace mote::ops::atan2
