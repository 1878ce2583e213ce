#include "mote/ops/transpose/transpose.h"

namespace mote::ops::transpose {
namespace {

template <class W>
struct Transpose {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    int32_t strides[kMaxRank];
    for (int i = 0; i < x.rank(); ++i) strides[i] = x.stride(a.rank == 0 ? x.rank() - 1 - i : checked_axis(a.perm[i], x.rank()));
    copy_grid<W>(y.rank(), y.desc->dims, x.data, strides, y.data, y.desc->strides);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::transpose, Transpose>(c.input(0).dtype()); }

}  // namespace mote::ops::transpose
