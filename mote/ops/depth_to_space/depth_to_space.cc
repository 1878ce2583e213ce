#include "mote/ops/depth_to_space/depth_to_space.h"

namespace mote::ops::depth_to_space {
namespace {

template <class W>
struct DepthToSpace {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    move_space_depth<W>(c.output(0), c.input(0), a.block, a.mode, true);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::depth_to_space, DepthToSpace>(c.input(0).dtype()); }

}  // namespace mote::ops::depth_to_space
