// Updates put at places that tuples of indices name; without arithmetic.

#include "mote/kernels/move/move.h"
#include "mote/ops/scatter_nd/scatter_nd.h"

namespace mote::kernels::MOTE_ISA_NAME {
namespace {

// Byte offset in y of what a tuple names, -1 when it points outside.
template <class I>
MOTE_INLINE int64_t place_of(const Tensor& y, const I* tuple, int length) {
  int64_t bytes = 0;
  for (int k = 0; k < length; ++k) {
    const int64_t at = tuple[k] < 0 ? int64_t{tuple[k]} + y.dim(k) : int64_t{tuple[k]};
    if (at < 0 || at >= y.dim(k)) return -1;
    bytes += at * y.stride(k);
  }
  return bytes;
}

template <class I>
Status run_scatter(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &indices = c.input(1), &updates = c.input(2), &y = c.output(0);
  const int lead = indices.rank() - 1, length = indices.dim(lead);
  const int64_t width = dtype_bytes(y.dtype());
  // Loops over the tuples: indices, updates.
  Nest<2> tuples;
  int64_t count = 1;
  for (int i = 0; i < lead; ++i) {
    const int64_t steps[2] = {indices.stride(i), updates.stride(i)};
    tuples.push(indices.dim(i), steps);
    count *= indices.dim(i);
  }
  const int32_t none[2] = {-1, -1};
  if (tuples.depth == 0) tuples.close(none);
  const auto each_tuple = [&](const auto& f) {
    if (count == 0) return;
    walk_runs(tuples, 0, tuples.runs(), 0, tuples.length(), [&](const int64_t* offset, const int64_t* step, int32_t n) {
      for (int32_t i = 0; i < n; ++i) {
        const uint8_t* tuple = indices.as<const uint8_t>() + offset[0] + i * step[0];
        f(place_of(y, reinterpret_cast<const I*>(tuple), length), offset[1] + i * step[1]);
      }
    });
  };
  // All indices are checked first: a bad one must not leave a state half written.
  bool outside = false;
  each_tuple([&](int64_t to, int64_t) { outside = outside || to < 0; });
  if (outside) return {Status::kInvalidArgument, Why::kIndexRange};
  if (x.data != y.data) {
    Moves all;
    for (int i = 0; i < y.rank(); ++i) push(&all, y.dim(i), x.stride(i), y.stride(i));
    if (y.count() > 0) move(all, static_cast<uint32_t>(width), x.data, y.data, c.threads);
  }
  if (updates.count() == 0) return Status::kOk;
  // What one tuple moves: a slice, often a run or a single element.
  Moves slice;
  for (int i = length; i < y.rank(); ++i) push(&slice, y.dim(i), updates.stride(lead + i - length), y.stride(i));
  const int32_t widths[2] = {static_cast<int32_t>(width), static_cast<int32_t>(width)};
  const bool run = slice.depth == 0 || (slice.depth == 1 && slice.stride[0][0] == width && slice.stride[0][1] == width);
  slice.close(widths);
  const int64_t bytes = slice.length() * width;
  each_tuple([&](int64_t to, int64_t from) {
    const uint8_t* source = updates.as<const uint8_t>() + from;
    if (run) copy_bytes(y.as<uint8_t>() + to, source, bytes);
    else move(slice, static_cast<uint32_t>(width), source, y.as<uint8_t>() + to, nullptr);
  });
  return Status::kOk;
}

}  // namespace

KernelFn select_scatter_nd(const OpContext& c) noexcept {
  if (c.attrs<ops::scatter_nd::Attrs>().reduction != ops::kScatterSet || dtype_bytes(c.input(0).dtype()) == 0) return nullptr;
  return c.input(1).dtype() == DType::s32 ? &run_scatter<int32_t> : c.input(1).dtype() == DType::s64 ? &run_scatter<int64_t> : nullptr;
}

}  // namespace mote::kernels::MOTE_ISA_NAME
