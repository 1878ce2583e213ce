// gather: copies rows (or single elements) of a tensor by index.

#include "mote/ops/gather/gather.h"
#include "mote/kernels/move/move.h"

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

// The loop nest over y, with the strides of x, indices and y.
StridedLoopNest<3> loops_of(const OpContext& c, int axis) {
  const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
  const int32_t wanted = c.attrs<ops::gather::Attrs>().batch_dims, batch = wanted < 0 ? wanted + indices.rank() : wanted;
  StridedLoopNest<3> nest;
  int n = 0;
  const auto push = [&](int64_t from, int64_t index) {
    const int64_t steps[3] = {from, index, y.stride(n)};
    nest.push(y.dim(n++), steps);
  };
  for (int i = 0; i < axis; ++i) push(x.stride(i), i < batch ? indices.stride(i) : 0);
  for (int i = batch; i < indices.rank(); ++i) push(0, indices.stride(i));
  for (int i = axis + 1; i < x.rank(); ++i) push(x.stride(i), 0);
  return nest;
}

Status gather_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
  const int32_t wanted = c.attrs<ops::gather::Attrs>().axis;
  const int axis = wanted < 0 ? wanted + x.rank() : wanted;
  const int64_t width = dtype_bytes(x.dtype());
  const int32_t size = x.dim(axis), widths[3] = {static_cast<int32_t>(width), 0, static_cast<int32_t>(width)};
  if (y.count() == 0) return Status::kOk;
  StridedLoopNest<3> nest = loops_of(c, axis);
  const bool narrow = indices.dtype() == DType::s32;
  // Contiguous runs for which the index is the same; otherwise single elements.
  const int last = nest.depth - 1;
  const bool runs = nest.depth > 0 && nest.stride[last][0] == width && nest.stride[last][1] == 0 && nest.stride[last][2] == width;
  if (!runs) {
    nest.size[nest.depth] = 1;
    for (int k = 0; k < 3; ++k) nest.stride[nest.depth][k] = widths[k];
    ++nest.depth;
  }
  bool outside = false;
  for_run_range(nest, 0, nest.runs(), 0, nest.length(), [&](const int64_t* offset, const int64_t*, int32_t n) {
    const uint8_t* p = indices.as<const uint8_t>() + offset[1];
    int64_t at = narrow ? *reinterpret_cast<const int32_t*>(p) : *reinterpret_cast<const int64_t*>(p);
    if (at < 0) at += size;
    if (at < 0 || at >= size) {
      outside = true;
      return;
    }
    copy_bytes(y.as<uint8_t>() + offset[2], x.as<const uint8_t>() + offset[0] + at * x.stride(axis), n * width);
  });
  return outside ? Status(Status::kInvalidArgument, Why::kIndexRange) : Status(Status::kOk);
}

}  // namespace

KernelFn select_gather(const OpContext& c) noexcept {
  const DType index = c.input(1).dtype();
  return dtype_bytes(c.input(0).dtype()) > 0 && (index == DType::s32 || index == DType::s64) ? &gather_any : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
