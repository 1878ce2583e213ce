#include "mote/ops/shift_right/shift_right.h"

#include "mote/ops/common/integer_math.h"

namespace mote::ops::shift_right {
namespace {

struct ShiftRight {
  template <class C>
  C operator()(C a, C amount) const {
    return shifted_right(a, amount);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::shift_right, ShiftRight, Attrs>(c, Types{}); }

}  // namespace mote::ops::shift_right
