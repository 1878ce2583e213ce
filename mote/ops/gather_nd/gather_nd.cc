#include "mote/ops/gather_nd/gather_nd.h"

#include "mote/ops/common/index_tuple.h"

namespace mote::ops::gather_nd {
namespace {

template <class W>
struct GatherNd {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
    const int batch = c.attrs<Attrs>().batch_dims, lead = indices.rank() - 1, first = batch + indices.dim(lead);
    if (y.count() == 0) return Status::kOk;
    int32_t x_strides[kMaxRank] = {};
    for (int i = 0; i < batch; ++i) x_strides[i] = x.stride(i);
    GridWalk<3> w(lead, indices.desc->dims, {{x_strides, indices.desc->strides, y.desc->strides}});
    while (w.next()) {
      const int64_t at = tuple_offset(*x.desc, batch, indices, w.offset[1]);
      if (at < 0) return {Status::kInvalidArgument, Why::kIndexRange};
      copy_grid<W>(x.rank() - first, x.desc->dims + first, x.at<uint8_t>(w.offset[0] + static_cast<int32_t>(at)), x.desc->strides + first,
                   y.at<uint8_t>(w.offset[2]), y.desc->strides + lead);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::gather_nd, GatherNd>(c.input(0).dtype()); }

}  // namespace mote::ops::gather_nd
