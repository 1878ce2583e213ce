#include "mote/ops/log2/log2.h"

#include <cmath>

namespace mote::ops::log2 {
namespace {

struct Log2 {
  template <class C>
  C operator()(C x) const {
    return std::log2(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::log2, Log2, Attrs>(c, Types{}); }

}  // namespace mote::ops::log2
