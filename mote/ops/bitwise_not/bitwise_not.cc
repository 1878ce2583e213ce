#include "mote/ops/bitwise_not/bitwise_not.h"

namespace mote::ops::bitwise_not {
namespace {

struct BitwiseNot {
  template <class C>
  C operator()(C x) const {
    if constexpr (std::is_same_v<C, bool>) return !x;
    else return static_cast<C>(~x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::bitwise_not, BitwiseNot>(c, Types{}); }

}  // namespace mote::ops::bitwise_not
