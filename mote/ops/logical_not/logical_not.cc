#include "mote/ops/logical_not/logical_not.h"

namespace mote::ops::logical_not {

KernelFn select(const OpContext& c) noexcept {
  if (c.input(0).dtype() == DType::boolean) return pick_not<OpId::logical_not>();
  return pick_unary<OpId::logical_not, IsZero>(c, NumberTypes{});
}

}  // namespace mote::ops::logical_not
