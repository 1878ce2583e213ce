#include "mote/ops/space_to_batch/space_to_batch.h"

#include "mote/ops/common/number.h"

namespace mote::ops::space_to_batch {
namespace {

template <class W>
struct SpaceToBatch {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    const W value = number_bits<W>(x.dtype(), Number::of(static_cast<double>(a.value)));
    GridWalk<1> w(y.rank(), y.desc->dims, {{y.desc->strides}});
    while (w.next()) {
      // Batch b of the result is image b % N of x, seen at the position b / N of every block.
      int32_t position = w.index[0] / x.dim(0), from = w.index[0] % x.dim(0) * x.stride(0);
      bool inside = true;
      for (int i = a.count; i >= 1; --i) {
        const int32_t block = a.block[i - 1], at = w.index[i] * block + position % block - a.begin[i - 1];
        position /= block;
        if (at >= 0 && at < x.dim(i)) from += at * x.stride(i);
        else inside = false;
      }
      for (int i = a.count + 1; i < x.rank(); ++i) from += w.index[i] * x.stride(i);
      put(y.at<W>(w.offset[0]), inside ? x.at<const W>(from) : &value);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::space_to_batch, SpaceToBatch>(c.input(0).dtype()); }

}  // namespace mote::ops::space_to_batch
