#include "mote/ops/eye/eye.h"

#include "mote/ops/common/number.h"

namespace mote::ops::eye {
namespace {

template <class W>
struct Eye {
  static Status run(const OpContext& c) noexcept {
    const Tensor& y = c.output(0);
    const int32_t k = c.attrs<Attrs>().k;
    const W values[2] = {0, number_bits<W>(y.dtype(), Number::of(int64_t{1}))};
    GridWalk<1> w(2, y.desc->dims, {{y.desc->strides}});
    while (w.next()) put(y.at<W>(w.offset[0]), &values[w.index[1] - w.index[0] == k ? 1 : 0]);
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::eye, Eye>(c.output(0).dtype()); }

}  // namespace mote::ops::eye
