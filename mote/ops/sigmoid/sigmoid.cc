#include "mote/ops/sigmoid/sigmoid.h"

#include "mote/ops/common/logistic.h"

namespace mote::ops::sigmoid {
namespace {

struct Sigmoid {
  template <class C>
  C operator()(C x) const {
    return logistic(x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::sigmoid, Sigmoid, Attrs>(c, Types{}); }

}  // namespace mote::ops::sigmoid
