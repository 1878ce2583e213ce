#include "mote/ops/batch_to_space/batch_to_space.h"

namespace mote::ops::batch_to_space {
namespace {

template <class W>
struct BatchToSpace {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    GridWalk<1> w(y.rank(), y.desc->dims, {{y.desc->strides}});
    while (w.next()) {
      // A position of the result is a position in the block, which picks the batch of x, and the block's place there.
      int32_t position = 0, from = 0;
      for (int i = 1; i <= a.count; ++i) {
        const int32_t block = a.block[i - 1], at = w.index[i] + a.begin[i - 1];
        position = position * block + at % block;
        from += at / block * x.stride(i);
      }
      for (int i = a.count + 1; i < x.rank(); ++i) from += w.index[i] * x.stride(i);
      put(y.at<W>(w.offset[0]), x.at<const W>(from + (position * y.dim(0) + w.index[0]) * x.stride(0)));
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::batch_to_space, BatchToSpace>(c.input(0).dtype()); }

}  // namespace mote::ops::batch_to_space
