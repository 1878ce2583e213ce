#include "mote/ops/shift_left/shift_left.h"

#include "mote/ops/common/integer_math.h"

namespace mote::ops::shift_left {
namespace {

struct ShiftLeft {
  template <class C>
  C operator()(C a, C amount) const {
    return shifted_left(a, amount);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::shift_left, ShiftLeft, Attrs>(c, Types{}); }

}  // namespace mote::ops::shift_left
