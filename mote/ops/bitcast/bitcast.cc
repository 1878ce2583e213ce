#include "mote/ops/bitcast/bitcast.h"

namespace mote::ops::bitcast {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  copy_grid(dtype_bytes(x.dtype()), y.rank(), y.desc->dims, x.data, x.desc->strides, y.data, y.desc->strides);
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::bitcast
