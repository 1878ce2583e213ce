#include "mote/ops/concat/concat.h"

namespace mote::ops::concat {
namespace {

template <class W>
struct Concat {
  static Status run(const OpContext& c) noexcept {
    const Tensor& y = c.output(0);
    const int axis = checked_axis(c.attrs<Attrs>().axis, y.rank());
    int32_t at = 0;
    for (int i = 0; i < c.input_count; ++i) {
      const Tensor& x = c.input(i);
      if (x.count() > 0) copy_grid<W>(x.rank(), x.desc->dims, x.data, x.desc->strides, y.at<uint8_t>(at * y.stride(axis)), y.desc->strides);
      at += x.dim(axis);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::concat, Concat>(c.input(0).dtype()); }

}  // namespace mote::ops::concat
