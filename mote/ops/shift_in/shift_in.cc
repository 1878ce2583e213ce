#include "mote/ops/shift_in/shift_in.h"

#include "mote/ops/common/moves.h"

namespace mote::ops::shift_in {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &state = c.input(0), &x = c.input(1), &y = c.output(0);
  const TensorDesc& d = *y.desc;
  const int32_t kept = d.dims[0] - x.dim(0);
  int32_t dims[kMaxRank];
  for (int i = 0; i < d.rank; ++i) dims[i] = d.dims[i];
  const uint32_t width = dtype_bytes(d.dtype);
  // Forwards, so that rows of the state itself are read before they are written.
  dims[0] = kept;
  copy_grid(width, d.rank, dims, state.at<const uint8_t>(x.dim(0) * state.stride(0)), state.desc->strides, y.data, d.strides);
  dims[0] = x.dim(0);
  copy_grid(width, d.rank, dims, x.data, x.desc->strides, y.at<uint8_t>(kept * d.strides[0]), d.strides);
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::shift_in
