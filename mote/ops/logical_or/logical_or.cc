#include "mote/ops/logical_or/logical_or.h"

namespace mote::ops::logical_or {
namespace {

struct LogicalOr {
  bool operator()(bool a, bool b) const { return a || b; }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_binary<OpId::logical_or, LogicalOr, Attrs>(c, Types{}); }

}  // namespace mote::ops::logical_or
