#include "mote/ops/copy/copy.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::copy {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  RowWalk<2> w(*y.desc, {x.desc, y.desc}, c.rows);
  const size_t bytes = static_cast<size_t>(w.length) * dtype_bytes(x.dtype());
  while (w.next()) std::memmove(y.at<uint8_t>(w.offset[1]), x.at<const uint8_t>(w.offset[0]), bytes);
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::copy
