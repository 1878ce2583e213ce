#include "mote/ops/update_slice/update_slice.h"

namespace mote::ops::update_slice {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &update = c.input(1), &y = c.output(0);
  const IntList starts(c, 2, nullptr, 0);
  start_from_input(c);
  if (update.count() == 0) return Status::kOk;
  int32_t at = 0;
  for (int i = 0; i < y.rank(); ++i) {
    const int64_t last = y.dim(i) - update.dim(i);
    const int64_t start = starts[i] < 0 ? 0 : starts[i] > last ? last : starts[i];
    at += static_cast<int32_t>(start) * y.stride(i);
  }
  const TensorDesc& block = *update.desc;
  copy_grid(dtype_bytes(block.dtype), block.rank, block.dims, update.data, block.strides, y.at<uint8_t>(at), y.desc->strides);
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::update_slice
