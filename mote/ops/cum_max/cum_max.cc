#include "mote/ops/cum_max/cum_max.h"

#include "mote/ops/common/ordering.h"

namespace mote::ops::cum_max {
namespace {

// The extreme of the elements so far, and where it was met last.
template <class C, class Order>
struct Extreme {
  void add(C v, int32_t i) {
    if (!holds_nan(v) && (holds_nan(value) || Order()(value, v))) return;
    value = v;
    position = i;
  }
  C value = Order::template last<C>();
  int32_t position = 0;
};

template <class T, class Order>
Status run_in_order(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor &x = c.input(0), *y = c.has_output(0) ? &c.output(0) : nullptr, *indices = c.has_output(1) ? &c.output(1) : nullptr;
  const int axis = scan_axis(c, a.axis);
  if (axis < 0) return {Status::kInvalidArgument, Why::kAxis};
  const int32_t n = x.rank() > 0 ? x.dim(axis) : 1;
  AxisWalk<3> walk(*x.desc, axis, {x.desc, (y != nullptr ? y : indices)->desc, (indices != nullptr ? indices : y)->desc});
  while (walk.next()) {
    const T* in = x.at<const T>(walk.offset[0]);
    Extreme<Compute<T>, Order> best;
    for (int32_t k = 0; k < n; ++k) {
      const int32_t i = a.reverse != 0 ? n - 1 - k : k;
      const Compute<T> v = static_cast<Compute<T>>(line_at(in, i, walk.stride[0]));
      if (a.exclusive == 0) best.add(v, i);
      if (y != nullptr) line_at(y->at<T>(walk.offset[1]), i, walk.stride[1]) = static_cast<T>(best.value);
      if (a.exclusive != 0) best.add(v, i);
      if (indices != nullptr) line_at(indices->at<int64_t>(walk.offset[2]), i, walk.stride[2]) = best.position;
    }
  }
  return Status::kOk;
}

template <class T>
struct CumMax {
  static Status run(const OpContext& c) noexcept {
    return c.attrs<Attrs>().smallest != 0 ? run_in_order<T, Below>(c) : run_in_order<T, Above>(c);
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::cum_max, CumMax>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::cum_max
