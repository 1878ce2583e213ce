#include "mote/ops/prelu/prelu.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::prelu {
namespace {

struct Prelu {
  template <class C>
  C operator()(C x, C slope) const {
    return x < C(0) ? wrap_mul(x, slope) : x;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::prelu, Prelu, Attrs>(c, Types{}); }

}  // namespace mote::ops::prelu
