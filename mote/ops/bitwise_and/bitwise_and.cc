#include "mote/ops/bitwise_and/bitwise_and.h"

namespace mote::ops::bitwise_and {
namespace {

struct BitwiseAnd {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::bitwise_and, BitwiseAnd, Attrs>(c, Types{}); }

}  // namespace mote::ops::bitwise_and
