#include "mote/ops/relu/relu.h"

namespace mote::ops::relu {
namespace {

struct Relu {
  template <class C>
  C operator()(C x) const {
    return x < C(0) ? C(0) : x;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::relu, Relu, Attrs>(c, Types{}); }

}  // namespace mote::ops::relu
