#include "mote/ops/cast/cast.h"

#include "mote/ops/common/number.h"
#include "mote/ops/common/row_walk.h"

namespace mote::ops::cast {
namespace {

// One loop for all pairs of types: thirteen loads and thirteen stores instead of 169 loops.
Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const uint32_t from = dtype_bytes(x.dtype()), to = dtype_bytes(y.dtype());
  RowWalk<2> w(*y.desc, {x.desc, y.desc}, c.rows);
  while (w.next()) {
    const uint8_t* in = x.at<const uint8_t>(w.offset[0]);
    uint8_t* out = y.at<uint8_t>(w.offset[1]);
    for (int32_t i = 0; i < w.length; ++i, in += from, out += to) store_number(y.dtype(), out, load_number(x.dtype(), in));
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::cast
