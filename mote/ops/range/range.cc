#include "mote/ops/range/range.h"

namespace mote::ops::range {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor& y = c.output(0);
  const DType type = y.dtype();
  const Number start = load_number(type, c.input(0).data), delta = load_number(type, c.input(2).data);
  for (int32_t i = 0; i < y.dim(0); ++i) {
    Number v = start;
    if (v.kind == Number::kReal) v.real += i * delta.real;
    else v.u += static_cast<uint64_t>(i) * delta.u;
    store_number(type, y.at<uint8_t>(i * y.stride(0)), v);
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::range
