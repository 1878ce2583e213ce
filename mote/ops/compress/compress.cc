#include "mote/ops/compress/compress.h"

namespace mote::ops::compress {
namespace {

template <class W>
struct Compress {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &condition = c.input(1), &y = c.output(0);
    const Attrs& a = c.attrs<Attrs>();
    const bool flat = a.has_axis == 0;
    const int axis = flat ? 0 : checked_axis(a.axis, x.rank());
    const uint8_t* wanted = condition.as<const uint8_t>();
    int32_t found = 0;
    for (int32_t i = 0; i < condition.dim(0); ++i) found += wanted[i] != 0 ? 1 : 0;
    MOTE_TRY(c.set_output_dim(0, axis, found));
    int32_t dims[kMaxRank] = {};
    for (int i = 0; !flat && i < x.rank(); ++i) dims[i] = i == axis ? 1 : x.dim(i);
    int32_t at = 0;
    for (int32_t i = 0; i < condition.dim(0); ++i) {
      if (wanted[i] == 0) continue;
      const uint8_t* from = x.at<uint8_t>(flat ? offset_of(*x.desc, i) : i * x.stride(axis));
      copy_grid<W>(flat ? 0 : x.rank(), dims, from, x.desc->strides, y.at<uint8_t>(at++ * y.stride(axis)), y.desc->strides);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_width<OpId::compress, Compress>(c.input(0).dtype()); }

}  // namespace mote::ops::compress
