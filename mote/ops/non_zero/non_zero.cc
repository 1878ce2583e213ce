#include "mote/ops/non_zero/non_zero.h"

#include "mote/ops/common/number.h"

namespace mote::ops::non_zero {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int across = c.attrs<Attrs>().transpose != 0 ? 0 : 1;  // the axis of y that counts elements
  const GridWalk<1> start(x.rank(), x.desc->dims, {{x.desc->strides}});
  int32_t found = 0;
  for (GridWalk<1> w = start; w.next();) found += load_number(x.dtype(), x.at<uint8_t>(w.offset[0])).is_zero() ? 0 : 1;
  MOTE_TRY(c.set_output_dim(0, across, found));
  int32_t at = 0;
  for (GridWalk<1> w = start; w.next();) {
    if (load_number(x.dtype(), x.at<uint8_t>(w.offset[0])).is_zero()) continue;
    for (int i = 0; i < x.rank(); ++i) *y.at<int64_t>(at * y.stride(across) + i * y.stride(1 - across)) = w.index[i];
    ++at;
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::non_zero
