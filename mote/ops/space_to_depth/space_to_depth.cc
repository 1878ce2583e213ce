#include "mote/ops/space_to_depth/space_to_depth.h"

namespace mote::ops::space_to_depth {
namespace {

template <class W>
struct SpaceToDepth {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    move_space_depth<W>(c.input(0), c.output(0), a.block, a.mode, false);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::space_to_depth, SpaceToDepth>(c.input(0).dtype()); }

}  // namespace mote::ops::space_to_depth
