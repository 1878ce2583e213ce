#include "mote/ops/scatter_nd/scatter_nd.h"

#include "mote/ops/common/index_tuple.h"

namespace mote::ops::scatter_nd {
namespace {

Status run(const OpContext& c) noexcept {
  const Tensor &indices = c.input(1), &updates = c.input(2), &y = c.output(0);
  const int32_t reduction = c.attrs<Attrs>().reduction;
  const int lead = indices.rank() - 1, tuple = indices.dim(lead);

  // All indices are checked first: a bad one must not leave a state half written.
  GridWalk<1> check(lead, indices.desc->dims, {{indices.desc->strides}});
  while (check.next())
    if (tuple_offset(*y.desc, 0, indices, check.offset[0]) < 0) return {Status::kInvalidArgument, Why::kIndexRange};

  start_from_input(c);
  if (updates.count() == 0) return Status::kOk;
  GridWalk<2> w(lead, indices.desc->dims, {{indices.desc->strides, updates.desc->strides}});
  while (w.next()) {
    const int32_t at = static_cast<int32_t>(tuple_offset(*y.desc, 0, indices, w.offset[0]));
    GridWalk<2> slice(y.rank() - tuple, y.desc->dims + tuple, {{y.desc->strides + tuple, updates.desc->strides + lead}});
    while (slice.next())
      scatter_one(reduction, y.dtype(), y.at<uint8_t>(at + slice.offset[0]), updates.at<uint8_t>(w.offset[1] + slice.offset[1]));
  }
  return Status::kOk;
}

}  // namespace

KernelFn select(const OpContext&) noexcept { return &run; }

}  // namespace mote::ops::scatter_nd
