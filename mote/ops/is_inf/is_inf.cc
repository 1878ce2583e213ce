#include "mote/ops/is_inf/is_inf.h"

#include <cmath>

namespace mote::ops::is_inf {
namespace {

struct IsInf {
  explicit IsInf(const Attrs& a) : attrs(a) {}
  template <class C>
  bool operator()(C x) const {
    return std::isinf(x) && (x < C(0) ? attrs.detect_negative : attrs.detect_positive) != 0;
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::is_inf, IsInf, Attrs>(c, Types{}); }

}  // namespace mote::ops::is_inf
