#include "mote/ops/bitwise_xor/bitwise_xor.h"

namespace mote::ops::bitwise_xor {
namespace {

struct BitwiseXor {
  template <class C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::bitwise_xor, BitwiseXor, Attrs>(c, Types{}); }

}  // namespace mote::ops::bitwise_xor
