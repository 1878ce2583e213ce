#include "mote/ops/reverse_sequence/reverse_sequence.h"

namespace mote::ops::reverse_sequence {
namespace {

template <class W>
struct ReverseSequence {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    const int batch = checked_axis(a.batch_axis, x.rank()), time = checked_axis(a.time_axis, x.rank());
    const IntList lengths(c, 1, nullptr, 0);
    for (int32_t i = 0; i < lengths.count(); ++i)
      if (lengths[i] < 0 || lengths[i] > x.dim(time)) return {Status::kInvalidArgument, Why::kValue};
    int32_t strides[kMaxRank];
    for (int i = 0; i < x.rank(); ++i) strides[i] = i == time ? 0 : x.stride(i);
    GridWalk<2> w(y.rank(), y.desc->dims, {{strides, y.desc->strides}});
    while (w.next()) {
      const int32_t t = w.index[time], n = static_cast<int32_t>(lengths[w.index[batch]]);
      put(y.at<W>(w.offset[1]), x.at<const W>(w.offset[0] + (t < n ? n - 1 - t : t) * x.stride(time)));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::reverse_sequence, ReverseSequence>(c.input(0).dtype()); }

}  // namespace mote::ops::reverse_sequence
