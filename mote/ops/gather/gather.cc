#include "mote/ops/gather/gather.h"

namespace mote::ops::gather {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
  const Attrs& a = c.attrs<Attrs>();
  const int axis = checked_axis(a.axis, x.rank()), batch = checked_axis(a.batch_dims, indices.rank());
  int32_t x_strides[kMaxRank] = {}, index_strides[kMaxRank] = {};
  int n = 0;
  for (int i = 0; i < axis; ++i, ++n) {
    x_strides[n] = x.stride(i);
    index_strides[n] = i < batch ? indices.stride(i) : 0;
  }
  for (int i = batch; i < indices.rank(); ++i) index_strides[n++] = indices.stride(i);
  for (int i = axis + 1; i < x.rank(); ++i) x_strides[n++] = x.stride(i);

  // Unless the axis is the innermost one, whole rows move.
  const bool rows = axis + 1 < x.rank();
  const size_t bytes = dtype_bytes(x.dtype()) * static_cast<size_t>(rows ? y.dim(y.rank() - 1) : 1);
  if (bytes == 0) return Status::kOk;
  GridWalk<3> w(rows ? n - 1 : n, y.desc->dims, {{x_strides, index_strides, y.desc->strides}});
  while (w.next()) {
    const int32_t at = index_in(load_int(indices.dtype(), indices.at<uint8_t>(w.offset[1])), x.dim(axis));
    if (at < 0) return {Status::kInvalidArgument, Why::kIndexRange};
    std::memcpy(y.at<uint8_t>(w.offset[2]), x.at<uint8_t>(w.offset[0] + at * x.stride(axis)), bytes);
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::gather
