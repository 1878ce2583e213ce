#include "mote/ops/reshape/reshape.h"

namespace mote::ops::reshape {
namespace {

template <class W>
struct Reshape {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    if (x.count() != y.count()) return {Status::kShape, Why::kElementCount};
    if (is_dense(*x.desc) && is_dense(*y.desc)) {
      if (x.data != y.data) std::memmove(y.data, x.data, static_cast<size_t>(x.count()) * sizeof(W));
      return Status::kOk;
    }
    GridWalk<1> from(x.rank(), x.desc->dims, {{x.desc->strides}}), to(y.rank(), y.desc->dims, {{y.desc->strides}});
    while (from.next() && to.next()) put(y.at<W>(to.offset[0]), x.at<const W>(from.offset[0]));
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::reshape, Reshape>(c.input(0).dtype()); }

}  // namespace mote::ops::reshape
