#include "mote/ops/slice/slice.h"

namespace mote::ops::slice {
namespace {

template <class W>
struct Slice {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    Range ranges[kMaxRank];
    MOTE_TRY(resolve(c.attrs<Attrs>(), c, ranges));
    int32_t strides[kMaxRank], first = 0;
    for (int i = 0; i < x.rank(); ++i) {
      const Range& r = ranges[i];
      if (r.size != y.dim(i)) return {Status::kInvalidArgument, Why::kBound};
      // The step counts only where there is a second element; elsewhere its product with the stride might not fit.
      strides[i] = r.size > 1 ? static_cast<int32_t>(r.step) * x.stride(i) : 0;
    }
    if (y.count() == 0) return Status::kOk;
    for (int i = 0; i < x.rank(); ++i) first += static_cast<int32_t>(ranges[i].start) * x.stride(i);
    copy_grid<W>(y.rank(), y.desc->dims, x.at<uint8_t>(first), strides, y.data, y.desc->strides);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::slice, Slice>(c.input(0).dtype()); }

}  // namespace mote::ops::slice
