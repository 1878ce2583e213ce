#include "mote/ops/split/split.h"

namespace mote::ops::split {
namespace {

template <class W>
struct Split {
  static Status run(const OpContext& c) noexcept {
    const Tensor& x = c.input(0);
    const int axis = checked_axis(c.attrs<Attrs>().axis, x.rank());
    const int32_t parts = c.output_count;
    const int32_t each = x.dim(axis) / parts + (x.dim(axis) % parts != 0 ? 1 : 0);
    int32_t at = 0;
    for (int o = 0; o < parts; ++o) {
      int32_t size = o + 1 < parts ? each : x.dim(axis) - at;
      if (c.has_input(1)) size = static_cast<int32_t>(IntList(c, 1, nullptr, 0)[o]);
      if (size < 0 || size > x.dim(axis) - at) return {Status::kInvalidArgument, Why::kValue};
      if (c.has_output(o)) {
        const Tensor& y = c.output(o);
        if (y.dim(axis) != size) return {Status::kInvalidArgument, Why::kBound};
        const uint8_t* from = y.count() > 0 ? x.at<uint8_t>(at * x.stride(axis)) : nullptr;
        copy_grid<W>(y.rank(), y.desc->dims, from, x.desc->strides, y.data, y.desc->strides);
      }
      at += size;
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::split, Split>(c.input(0).dtype()); }

}  // namespace mote::ops::split
