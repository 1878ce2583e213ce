#include "mote/ops/mul/mul.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::mul {
namespace {

struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return wrap_mul(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::mul, Mul, Attrs>(c, Types{}); }

}  // namespace mote::ops::mul
