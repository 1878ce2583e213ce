#include "mote/ops/square/square.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::square {
namespace {

struct Square {
  template <class C>
  C operator()(C x) const {
    return wrap_mul(x, x);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_unary<OpId::square, Square, Attrs>(c, Types{}); }

}  // namespace mote::ops::square
