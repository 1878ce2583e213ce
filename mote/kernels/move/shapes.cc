// Data movement operators that are one strided copy, or a few: transpose, expand, reverse, slice, tile, concat, split, copy, ...

#include "mote/kernels/move/move.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::kernels::MOTE_ISA_NAME::move {
namespace {

uint32_t width_of(const Tensor& t) { return dtype_bytes(t.dtype()); }
int normalize_axis(int32_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

// Fills y from x, whose element at `first` is read with these strides (bytes) for the dimensions of y.
Status copy_from_strides(const OpContext& c, const int64_t* strides, const uint8_t* first) {
  const Tensor& y = c.output(0);
  StridedCopy loops;
  for (int i = 0; i < y.rank(); ++i) push(&loops, y.dim(i), strides[i], y.stride(i));
  move(loops, width_of(y), first, y.data, c.threads);
  return Status::kOk;
}

Status transpose_any(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::transpose::Attrs>();
  const Tensor& x = c.input(0);
  int64_t strides[kMaxRank];
  for (int i = 0; i < x.rank(); ++i) strides[i] = x.stride(a.rank == 0 ? x.rank() - 1 - i : normalize_axis(a.perm[i], x.rank()));
  return copy_from_strides(c, strides, x.as<uint8_t>());
}

Status expand_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  int64_t strides[kMaxRank] = {};
  const int lead = y.rank() - x.rank();
  for (int i = 0; i < x.rank(); ++i) {
    if (x.dim(i) != 1 && x.dim(i) != y.dim(lead + i)) return {Status::kInvalidArgument, Why::kBound};
    strides[lead + i] = x.dim(i) == 1 ? 0 : x.stride(i);
  }
  return copy_from_strides(c, strides, x.as<uint8_t>());
}

Status fill_any(const OpContext& c) noexcept {
  const int64_t broadcast_strides[kMaxRank] = {};
  return copy_from_strides(c, broadcast_strides, c.input(0).as<uint8_t>());
}

Status reverse_any(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::reverse::Attrs>();
  const Tensor& x = c.input(0);
  if (x.count() == 0) return Status::kOk;
  int64_t strides[kMaxRank], first = 0;
  for (int i = 0; i < x.rank(); ++i) strides[i] = x.stride(i);
  for (int k = 0; k < a.count; ++k) {
    const int axis = normalize_axis(a.axes[k], x.rank());
    first += int64_t{x.dim(axis) - 1} * x.stride(axis);
    strides[axis] = -strides[axis];
  }
  return copy_from_strides(c, strides, x.as<uint8_t>() + first);
}

// Sizes are those of the output; starts are clamped as in infer().
Status slice_any(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::slice::Attrs>();
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.count() == 0) return Status::kOk;
  int64_t strides[kMaxRank], first = 0;
  for (int i = 0; i < x.rank(); ++i) strides[i] = x.stride(i);
  for (int k = 0; k < a.count; ++k) {
    const int axis = normalize_axis(a.axes[k], x.rank());
    const int64_t size = x.dim(axis), last = a.steps[k] > 0 ? size : size - 1;
    int64_t start = a.starts[k] < 0 ? a.starts[k] + size : a.starts[k];
    start = start < 0 ? 0 : start > last ? last : start;
    first += start * x.stride(axis);
    strides[axis] = a.steps[k] * strides[axis];
  }
  return copy_from_strides(c, strides, x.as<uint8_t>() + first);
}

Status tile_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  if (y.count() == 0) return Status::kOk;
  if (x.count() == 0) return {Status::kInvalidArgument, Why::kBound};
  StridedCopy loops;
  for (int i = 0; i < x.rank(); ++i) {
    if (y.dim(i) % x.dim(i) != 0) return {Status::kInvalidArgument, Why::kBound};
    push(&loops, y.dim(i) / x.dim(i), 0, int64_t{x.dim(i)} * y.stride(i));
    push(&loops, x.dim(i), x.stride(i), y.stride(i));
  }
  move(loops, width_of(y), x.data, y.data, c.threads);
  return Status::kOk;
}

// Copies the elements of `box`, which are a part of a larger tensor on one of the sides.
void copy_box(const OpContext& c, const Tensor& box, const Tensor& from, const void* first, const Tensor& to, void* target) {
  StridedCopy loops;
  for (int i = 0; i < box.rank(); ++i) push(&loops, box.dim(i), from.stride(i), to.stride(i));
  move(loops, width_of(box), first, target, c.threads);
}

Status concat_any(const OpContext& c) noexcept {
  const Tensor& y = c.output(0);
  const int axis = normalize_axis(c.attrs<ops::concat::Attrs>().axis, y.rank());
  int64_t at = 0;
  for (int i = 0; i < c.input_count; ++i) {
    const Tensor& x = c.input(i);
    if (x.count() > 0) copy_box(c, x, x, x.data, y, y.as<uint8_t>() + at * y.stride(axis));
    at += x.dim(axis);
  }
  return Status::kOk;
}

// With explicit sizes (input 1) those of the outputs, otherwise parts of equal size.
Status split_any(const OpContext& c) noexcept {
  const Tensor& x = c.input(0);
  const int axis = normalize_axis(c.attrs<ops::split::Attrs>().axis, x.rank());
  const int32_t parts = c.output_count, each = x.dim(axis) / parts + (x.dim(axis) % parts != 0 ? 1 : 0);
  int64_t at = 0;
  for (int o = 0; o < parts; ++o) {
    if (c.has_output(o)) {
      const Tensor& y = c.output(o);
      if (y.count() > 0) copy_box(c, y, x, x.as<uint8_t>() + at * x.stride(axis), y, y.data);
    }
    at += c.has_input(1) ? c.output(o).dim(axis) : each;
  }
  return Status::kOk;
}

Status copy_any(const OpContext& c) noexcept {
  const Tensor &x = c.input(0), &y = c.output(0);
  const TensorDesc* operands[] = {x.desc, y.desc};
  const int64_t width = width_of(x);
  for_each_run<2>(*y.desc, operands, c.rows, c.threads, static_cast<double>(width),
                  [&](const int64_t* offset, const int64_t* step, int32_t n) {
                    uint8_t* to = y.as<uint8_t>() + offset[1];
                    if (step[0] != 0) copy_bytes(to, x.as<const uint8_t>() + offset[0], n * width);
                    else fill_elements(to, x.as<const uint8_t>() + offset[0], static_cast<uint32_t>(width), n);
                  });
  return Status::kOk;
}

// Copies between space (N, H * b, W * b, C) and depth (N, H, W, b * b * C).
void copy_space_depth(const OpContext& c, const Tensor& space, const Tensor& depth, int64_t b, int32_t mode, bool to_space) {
  if (space.count() == 0) return;
  const int64_t channels = space.dim(3), width = width_of(space);
  const bool block_major = mode == ops::kBlockMajor;
  const int64_t channel_step = block_major ? width : b * b * width, column_step = block_major ? channels * width : width;
  const int32_t block = static_cast<int32_t>(b), sizes[6] = {depth.dim(0), depth.dim(1), block, depth.dim(2), block, space.dim(3)};
  const int64_t s[6] = {space.stride(0), b * space.stride(1), space.stride(1), b * space.stride(2), space.stride(2), width};
  const int64_t d[6] = {depth.stride(0), depth.stride(1), b * column_step, depth.stride(2), column_step, channel_step};
  StridedCopy loops;
  for (int i = 0; i < 6; ++i) push(&loops, sizes[i], to_space ? d[i] : s[i], to_space ? s[i] : d[i]);
  const Tensor &from = to_space ? depth : space, &to = to_space ? space : depth;
  move(loops, static_cast<uint32_t>(width), from.data, to.data, c.threads);
}

Status depth_to_space_any(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::depth_to_space::Attrs>();
  return copy_space_depth(c, c.output(0), c.input(0), a.block, a.mode, true), Status::kOk;
}
Status space_to_depth_any(const OpContext& c) noexcept {
  const auto& a = c.attrs<ops::space_to_depth::Attrs>();
  return copy_space_depth(c, c.input(0), c.output(0), a.block, a.mode, false), Status::kOk;
}

// The kernel, if elements are whole bytes.
KernelFn if_whole_bytes(const OpContext& c, KernelFn fn) { return width_of(c.input(0)) > 0 ? fn : nullptr; }

bool has_more(const OpContext& c, int first) {
  for (int i = first; i < c.input_count; ++i)
    if (c.has_input(i)) return true;
  return false;
}

}  // namespace

KernelFn select_transpose(const OpContext& c) noexcept { return if_whole_bytes(c, &transpose_any); }
KernelFn select_expand(const OpContext& c) noexcept { return if_whole_bytes(c, &expand_any); }
KernelFn select_fill(const OpContext& c) noexcept { return if_whole_bytes(c, &fill_any); }
KernelFn select_reverse(const OpContext& c) noexcept { return if_whole_bytes(c, &reverse_any); }
KernelFn select_tile(const OpContext& c) noexcept { return if_whole_bytes(c, &tile_any); }
KernelFn select_concat(const OpContext& c) noexcept { return if_whole_bytes(c, &concat_any); }
KernelFn select_depth_to_space(const OpContext& c) noexcept { return if_whole_bytes(c, &depth_to_space_any); }
KernelFn select_space_to_depth(const OpContext& c) noexcept { return if_whole_bytes(c, &space_to_depth_any); }
KernelFn select_copy(const OpContext& c) noexcept {
  const bool ring = c.input(0).desc->ring_rows != 0 && c.input(0).rank() != c.output(0).rank();
  return ring ? nullptr : if_whole_bytes(c, &copy_any);
}
// Bounds that are computed at run time are left to the portable kernels, which check them.
KernelFn select_slice(const OpContext& c) noexcept { return has_more(c, 1) ? nullptr : if_whole_bytes(c, &slice_any); }
KernelFn select_split(const OpContext& c) noexcept {
  if (c.has_input(1)) {
    if (c.input(1).desc->storage != Storage::kConstant) return nullptr;
    for (int o = 0; o < c.output_count; ++o)
      if (!c.has_output(o)) return nullptr;
  }
  return if_whole_bytes(c, &split_any);
}

}  // namespace mote::kernels::MOTE_ISA_NAME::move
