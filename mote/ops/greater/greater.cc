#include "mote/ops/greater/greater.h"

namespace mote::ops::greater {
namespace {

struct Greater {
  template <class C>
  bool operator()(C a, C b) const {
    return a > b;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::greater, Greater, Attrs>(c, Types{}); }

}  // namespace mote::ops::greater
