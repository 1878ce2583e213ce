#include "mote/ops/log10/log10.h"

#include <cmath>

namespace mote::ops::log10 {
namespace {

struct Log10 {
  template <class C>
  C operator()(C x) const {
    return std::log10(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::log10, Log10, Attrs>(c, Types{}); }

}  // namespace mote::ops::log10
