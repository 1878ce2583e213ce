#include "mote/ops/scatter_elements/scatter_elements.h"

namespace mote::ops::scatter_elements {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &indices = c.input(1), &updates = c.input(2), &y = c.output(0);
  const Attrs& a = c.attrs<Attrs>();
  const int axis = checked_axis(a.axis, y.rank());
  const auto index_at = [&](int32_t offset) { return index_in(load_int(indices.dtype(), indices.at<uint8_t>(offset)), y.dim(axis)); };

  // All indices are checked first: a bad one must not leave a state half written.
  GridWalk<1> check(indices.rank(), indices.desc->dims, {{indices.desc->strides}});
  while (check.next())
    if (index_at(check.offset[0]) < 0) return {Status::kInvalidArgument, Why::kIndexRange};

  start_from_input(c);
  int32_t y_strides[kMaxRank];
  for (int i = 0; i < y.rank(); ++i) y_strides[i] = i == axis ? 0 : y.stride(i);
  GridWalk<3> w(indices.rank(), indices.desc->dims, {{indices.desc->strides, updates.desc->strides, y_strides}});
  while (w.next()) {
    const int32_t at = w.offset[2] + index_at(w.offset[0]) * y.stride(axis);
    scatter_one(a.reduction, y.dtype(), y.at<uint8_t>(at), updates.at<uint8_t>(w.offset[1]));
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::scatter_elements
