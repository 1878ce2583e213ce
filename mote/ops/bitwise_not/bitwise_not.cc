#include "mote/ops/bitwise_not/bitwise_not.h"

namespace mote::ops::bitwise_not {
namespace {

struct BitwiseNot {
  template <class C>
  C operator()(C x) const { return static_cast<C>(~x); }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept {
  if (c.input(0).dtype() == DType::boolean) return pick_not<OpId::bitwise_not>();
  return pick_unary<OpId::bitwise_not, BitwiseNot>(c, IntTypes{});
}

}  // namespace mote::ops::bitwise_not
