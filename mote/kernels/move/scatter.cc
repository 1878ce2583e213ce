// scatter_nd without reduction: copies updates to the positions that index tuples select.

#include "mote/kernels/move/move.h"
#include "mote/ops/scatter_nd/scatter_nd.h"

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

// Byte offset in y of the element or slice that a tuple selects; -1: out of range.
template <class I>
MOTE_INLINE int64_t offset_of(const Tensor& y, const I* tuple, int length) {
  int64_t bytes = 0;
  for (int k = 0; k < length; ++k) {
    const int64_t at = tuple[k] < 0 ? int64_t{tuple[k]} + y.dim(k) : int64_t{tuple[k]};
    if (at < 0 || at >= y.dim(k)) return -1;
    bytes += at * y.stride(k);
  }
  return bytes;
}

template <class I>
Status scatter_nd_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &indices = c.input(1), &updates = c.input(2), &y = c.output(0);
  const int lead = indices.rank() - 1, length = indices.dim(lead);
  const int64_t width = dtype_bytes(y.dtype());
  // Loops over the tuples, with the strides of indices and updates.
  StridedLoopNest<2> tuples;
  int64_t count = 1;
  for (int i = 0; i < lead; ++i) {
    const int64_t steps[2] = {indices.stride(i), updates.stride(i)};
    tuples.push(indices.dim(i), steps);
    count *= indices.dim(i);
  }
  const int32_t unit_widths[2] = {-1, -1};
  if (tuples.depth == 0) tuples.ensure_contiguous(unit_widths);
  const auto for_each_tuple = [&](const auto& f) {
    if (count == 0) return;
    for_run_range(tuples, 0, tuples.runs(), 0, tuples.length(), [&](const int64_t* offset, const int64_t* step, int32_t n) {
      for (int32_t i = 0; i < n; ++i) {
        const uint8_t* tuple = indices.as<const uint8_t>() + offset[0] + i * step[0];
        f(offset_of(y, reinterpret_cast<const I*>(tuple), length), offset[1] + i * step[1]);
      }
    });
  };
  // All indices are validated before anything is written, so that an error leaves a state unchanged.
  bool outside = false;
  for_each_tuple([&](int64_t to, int64_t) { outside = outside || to < 0; });
  if (outside) return {Status::kInvalidArgument, Why::kIndexRange};
  if (x.data != y.data) {
    StridedCopy all;
    for (int i = 0; i < y.rank(); ++i) push(&all, y.dim(i), x.stride(i), y.stride(i));
    if (y.count() > 0) move(all, static_cast<uint32_t>(width), x.data, y.data, c.threads);
  }
  if (updates.count() == 0) return Status::kOk;
  // The slice that one tuple selects; often contiguous, or a single element.
  StridedCopy slice;
  for (int i = length; i < y.rank(); ++i) push(&slice, y.dim(i), updates.stride(lead + i - length), y.stride(i));
  const int32_t widths[2] = {static_cast<int32_t>(width), static_cast<int32_t>(width)};
  const bool contiguous = slice.depth == 0 || (slice.depth == 1 && slice.stride[0][0] == width && slice.stride[0][1] == width);
  slice.ensure_contiguous(widths);
  const int64_t bytes = slice.length() * width;
  for_each_tuple([&](int64_t to, int64_t from) {
    const uint8_t* source = updates.as<const uint8_t>() + from;
    if (contiguous) copy_bytes(y.as<uint8_t>() + to, source, bytes);
    else move(slice, static_cast<uint32_t>(width), source, y.as<uint8_t>() + to, nullptr);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_scatter_nd(const OpContext& c) noexcept {
  if (c.attrs<ops::scatter_nd::Attrs>().reduction != ops::kScatterSet || dtype_bytes(c.input(0).dtype()) == 0) return nullptr;
  return c.input(1).dtype() == DType::s32   ? &scatter_nd_any<int32_t>
         : c.input(1).dtype() == DType::s64 ? &scatter_nd_any<int64_t>
                                            : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
