#pragma once

// Orders of positions by the values that stand there, for sort, top_k and unique.

#include "mote/ops/common/axis_walk.h"
#include "mote/ops/common/number.h"

namespace mote::ops {

// Tells which of two positions of a line comes first: by value (NaN is the largest), then by position, so that every order is stable.
struct LineOrder {
  const uint8_t* first;
  int32_t stride;  // bytes
  DType dtype;
  bool descending;

  const uint8_t* at(int32_t i) const { return first + static_cast<ptrdiff_t>(i) * stride; }
  [[gnu::noinline]] bool operator()(int32_t a, int32_t b) const {
    const uint64_t ka = order_key(dtype, at(a)), kb = order_key(dtype, at(b));
    if (ka == kb) return a < b;
    return (ka < kb) != descending;
  }
};

// Writes the elements at `positions` and the positions themselves (s64 or s32) into lines of the outputs 0 and 1, where wanted.
inline void write_ordered(const LineOrder& line, const int32_t* positions, int32_t n, uint8_t* values, int32_t value_stride,
                          uint8_t* indices, int32_t index_stride, DType index_type) noexcept {
  for (int32_t i = 0; i < n; ++i) {
    if (values != nullptr) std::memcpy(values + static_cast<ptrdiff_t>(i) * value_stride, line.at(positions[i]), dtype_bytes(line.dtype));
    if (indices != nullptr) store_number(index_type, indices + static_cast<ptrdiff_t>(i) * index_stride, Number::of(int64_t{positions[i]}));
  }
}

// Calls order(line, scratch) -> positions kept at the start of the scratch, for each line along the axis, and writes the outputs.
template <class Order>
Status order_lines(const OpContext& c, int axis, bool descending, int32_t scratch_count, const Order& order) noexcept {
  const Tensor& x = c.input(0);
  if (c.scratch.size < static_cast<size_t>(scratch_count) * sizeof(int32_t)) return {Status::kOutOfMemory, Why::kScratch};
  auto* positions = reinterpret_cast<int32_t*>(c.scratch.data);
  const bool valued = c.has_output(0), indexed = c.has_output(1);
  const Tensor &y = c.output(valued ? 0 : 1), &indices = indexed ? c.output(1) : y;
  AxisWalk<3> w(*y.desc, axis, {{x.desc, y.desc, indices.desc}});
  const int32_t kept = y.rank() > 0 ? y.dim(axis) : 1;
  while (kept > 0 && w.next()) {
    const LineOrder line{x.at<uint8_t>(w.offset[0]), w.stride[0], x.dtype(), descending};
    order(line, positions);
    uint8_t* value_line = valued ? y.at<uint8_t>(w.offset[1]) : nullptr;
    uint8_t* index_line = indexed ? indices.at<uint8_t>(w.offset[2]) : nullptr;
    write_ordered(line, positions, kept, value_line, w.stride[1], index_line, w.stride[2], indices.dtype());
  }
  return Status::kOk;
}

}  // namespace mote::ops
