#include "mote/ops/logical_xor/logical_xor.h"

namespace mote::ops::logical_xor {
namespace {

struct LogicalXor {
  bool operator()(bool a, bool b) const { return a != b; }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::logical_xor, LogicalXor, Attrs>(c, Types{}); }

}  // namespace mote::ops::logical_xor
