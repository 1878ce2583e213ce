#include "mote/ops/threshold/threshold.h"

namespace mote::ops::threshold {
namespace {

struct Threshold {
  explicit Threshold(const Attrs& a) : attrs(a) {}
  template <class C>
  C operator()(C x) const {
    return x <= C(attrs.threshold) ? C(attrs.value) : x;
  }
  const Attrs attrs;
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::threshold, Threshold, Attrs>(c, Types{}); }

}  // namespace mote::ops::threshold
