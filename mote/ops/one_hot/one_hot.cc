#include "mote/ops/one_hot/one_hot.h"

namespace mote::ops::one_hot {
namespace {

template <class W>
struct OneHot {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    const int axis = checked_axis(a.axis, y.rank());
    W values[2] = {};
    if (c.has_input(2)) std::memcpy(values, c.input(2).data, sizeof values);
    else values[1] = number_bits<W>(y.dtype(), Number::of(int64_t{1}));
    int32_t strides[kMaxRank];
    for (int i = 0; i < y.rank(); ++i) strides[i] = i < axis ? x.stride(i) : i == axis ? 0 : x.stride(i - 1);
    GridWalk<2> w(y.rank(), y.desc->dims, {{strides, y.desc->strides}});
    while (w.next()) {
      int64_t index = to_int(load_number(x.dtype(), x.at<uint8_t>(w.offset[0])));
      if (index < 0 && a.negative_off == 0) index += y.dim(axis);
      put(y.at<W>(w.offset[1]), &values[index == w.index[axis] ? 1 : 0]);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::one_hot, OneHot>(c.output(0).dtype()); }

}  // namespace mote::ops::one_hot
