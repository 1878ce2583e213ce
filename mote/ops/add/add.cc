#include "mote/ops/add/add.h"

#include "mote/ops/common/wrap.h"

namespace mote::ops::add {
namespace {

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    return wrap_add(a, b);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::add, Add, Attrs>(c, Types{}); }

}  // namespace mote::ops::add
