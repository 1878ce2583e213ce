#include "mote/ops/reverse/reverse.h"

namespace mote::ops::reverse {
namespace {

template <class W>
struct Reverse {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    if (x.count() == 0) return Status::kOk;
    int32_t strides[kMaxRank], first = 0;
    for (int i = 0; i < x.rank(); ++i) strides[i] = x.stride(i);
    for (int k = 0; k < a.count; ++k) {
      const int axis = checked_axis(a.axes[k], x.rank());
      first += (x.dim(axis) - 1) * x.stride(axis);
      strides[axis] = -x.stride(axis);
    }
    copy_grid<W>(y.rank(), y.desc->dims, x.at<uint8_t>(first), strides, y.data, y.desc->strides);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::reverse, Reverse>(c.input(0).dtype()); }

}  // namespace mote::ops::reverse
