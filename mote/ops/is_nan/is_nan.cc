#include "mote/ops/is_nan/is_nan.h"

#include <cmath>

namespace mote::ops::is_nan {
namespace {

struct IsNan {
  template <class C>
  bool operator()(C x) const {
    return std::isnan(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::is_nan, IsNan, Attrs>(c, Types{}); }

}  // namespace mote::ops::is_nan
