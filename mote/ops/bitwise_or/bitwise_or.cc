#include "mote/ops/bitwise_or/bitwise_or.h"

namespace mote::ops::bitwise_or {
namespace {

struct BitwiseOr {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::bitwise_or, BitwiseOr, Attrs>(c, Types{}); }

}  // namespace mote::ops::bitwise_or
