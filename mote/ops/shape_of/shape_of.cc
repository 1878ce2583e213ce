#include "mote/ops/shape_of/shape_of.h"

#include "mote/ops/common/number.h"

namespace mote::ops::shape_of {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const int start = clamped_axis(c.attrs<Attrs>().start, x.rank());
  for (int32_t i = 0; i < y.dim(0); ++i) store_number(y.dtype(), y.at<uint8_t>(i * y.stride(0)), Number::of(int64_t{x.dim(start + i)}));
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::shape_of
