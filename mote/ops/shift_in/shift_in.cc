#include "mote/ops/shift_in/shift_in.h"

#include "mote/ops/common/moves.h"

namespace mote::ops::shift_in {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &state = c.input(0), &x = c.input(1), &y = c.output(0);
  const TensorDesc& d = *y.desc;
  const int axis = c.attrs<Attrs>().axis < 0 ? c.attrs<Attrs>().axis + d.rank : c.attrs<Attrs>().axis;
  const int32_t more = x.dim(axis), kept = d.dims[axis] - more;
  int32_t dims[kMaxRank];
  for (int i = 0; i < d.rank; ++i) dims[i] = d.dims[i];
  const uint32_t width = dtype_bytes(d.dtype);
  // Forwards, so that what lies in the state itself is read before it is written.
  dims[axis] = kept;
  copy_grid(width, d.rank, dims, state.at<const uint8_t>(more * state.stride(axis)), state.desc->strides, y.data, d.strides);
  dims[axis] = more;
  copy_grid(width, d.rank, dims, x.data, x.desc->strides, y.at<uint8_t>(kept * d.strides[axis]), d.strides);
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::shift_in
