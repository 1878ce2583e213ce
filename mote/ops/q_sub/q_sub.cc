#include "mote/ops/q_sub/q_sub.h"

namespace mote::ops::q_sub {

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::q_sub, QuantSum<-1>, Attrs>(c, Types{}); }

}  // namespace mote::ops::q_sub
