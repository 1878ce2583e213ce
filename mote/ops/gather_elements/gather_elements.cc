#include "mote/ops/gather_elements/gather_elements.h"

namespace mote::ops::gather_elements {
namespace {

template <class W>
struct GatherElements {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
    const int axis = checked_axis(c.attrs<Attrs>().axis, x.rank());
    int32_t x_strides[kMaxRank];
    for (int i = 0; i < x.rank(); ++i) x_strides[i] = i == axis ? 0 : x.stride(i);
    GridWalk<3> w(y.rank(), y.desc->dims, {{x_strides, indices.desc->strides, y.desc->strides}});
    while (w.next()) {
      const int32_t at = index_in(load_int(indices.dtype(), indices.at<uint8_t>(w.offset[1])), x.dim(axis));
      if (at < 0) return {Status::kInvalidArgument, Why::kIndexRange};
      put(y.at<W>(w.offset[2]), x.at<const W>(w.offset[0] + at * x.stride(axis)));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::gather_elements, GatherElements>(c.input(0).dtype()); }

}  // namespace mote::ops::gather_elements
