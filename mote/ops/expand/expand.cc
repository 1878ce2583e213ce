#include "mote/ops/expand/expand.h"

namespace mote::ops::expand {
namespace {

template <class W>
struct Expand {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    int32_t strides[kMaxRank] = {};
    const int lead = y.rank() - x.rank();
    for (int i = 0; i < x.rank(); ++i) {
      if (x.dim(i) != 1 && x.dim(i) != y.dim(lead + i)) return {Status::kInvalidArgument, Why::kBound};
      strides[lead + i] = x.dim(i) == 1 ? 0 : x.stride(i);
    }
    copy_grid<W>(y.rank(), y.desc->dims, x.data, strides, y.data, y.desc->strides);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::expand, Expand>(c.input(0).dtype()); }

}  // namespace mote::ops::expand
