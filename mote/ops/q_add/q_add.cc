#include "mote/ops/q_add/q_add.h"

namespace mote::ops::q_add {

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::q_add, QuantSum<1>, Attrs>(c, Types{}); }

}  // namespace mote::ops::q_add
