#include "mote/ops/tile/tile.h"

namespace mote::ops::tile {
namespace {

template <class W>
struct Tile {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    if (y.count() == 0) return Status::kOk;
    if (x.count() == 0) return {Status::kInvalidArgument, Why::kBound};
    // A grid of (repeats, size) per axis.
    int32_t dims[2 * kMaxRank], from[2 * kMaxRank], to[2 * kMaxRank];
    for (int i = 0; i < x.rank(); ++i) {
      if (y.dim(i) % x.dim(i) != 0) return {Status::kInvalidArgument, Why::kBound};
      dims[2 * i] = y.dim(i) / x.dim(i);
      dims[2 * i + 1] = x.dim(i);
      from[2 * i] = 0;
      from[2 * i + 1] = x.stride(i);
      to[2 * i] = dims[2 * i] > 1 ? x.dim(i) * y.stride(i) : 0;
      to[2 * i + 1] = y.stride(i);
    }
    copy_grid<W>(2 * x.rank(), dims, x.data, from, y.data, to);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::tile, Tile>(c.input(0).dtype()); }

}  // namespace mote::ops::tile
