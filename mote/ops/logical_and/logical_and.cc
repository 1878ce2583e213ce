#include "mote/ops/logical_and/logical_and.h"

namespace mote::ops::logical_and {
namespace {

struct LogicalAnd {
  bool operator()(bool a, bool b) const { return a && b; }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::logical_and, LogicalAnd, Attrs>(c, Types{}); }

}  // namespace mote::ops::logical_and
