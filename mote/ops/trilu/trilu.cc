#include "mote/ops/trilu/trilu.h"

namespace mote::ops::trilu {
namespace {

template <class W>
struct Trilu {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    const int64_t k = IntList(c, 1, &a.k, 1)[0];
    const W zero = 0;
    GridWalk<2> w(y.rank(), y.desc->dims, {{x.desc->strides, y.desc->strides}});
    while (w.next()) {
      const int64_t diagonal = int64_t{w.index[y.rank() - 1]} - w.index[y.rank() - 2];
      const bool keep = a.upper != 0 ? diagonal >= k : diagonal <= k;
      put(y.at<W>(w.offset[1]), keep ? x.at<const W>(w.offset[0]) : &zero);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::trilu, Trilu>(c.input(0).dtype()); }

}  // namespace mote::ops::trilu
