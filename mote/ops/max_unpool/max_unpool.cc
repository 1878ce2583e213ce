#include "mote/ops/max_unpool/max_unpool.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::max_unpool {
namespace {

// Byte offset of channel 0 at a flat position of the spatial dimensions.
int32_t plane_offset(const TensorDesc& d, int32_t flat) noexcept {
  int32_t bytes = 0;
  for (int i = d.rank - 2; i >= 1; --i) {
    bytes += flat % d.dims[i] * d.strides[i];
    flat /= d.dims[i];
  }
  return bytes;
}

template <class T>
struct MaxUnpool {
  static Status run(const OpContext& c) noexcept {
    const Tensor &x = c.input(0), &indices = c.input(1), &y = c.output(0);
    RowWalk<1> clear(*y.desc, {y.desc});
    while (clear.next()) {
      T* row = y.at<T>(clear.offset[0]);
      for (int32_t i = 0; i < clear.length; ++i) row[i] = T(0.f);
    }
    int32_t plane = 1;
    for (int i = 1; i < y.rank() - 1; ++i) plane *= y.dim(i);
    const int32_t width = static_cast<int32_t>(dtype_bytes(indices.dtype()));
    // One batch at a time, because a row does not tell its batch.
    TensorDesc one = *x.desc;
    one.dims[0] = 1;
    for (int32_t n = 0; n < x.dim(0); ++n) {
      RowWalk<2> walk(one, {x.desc, indices.desc});
      while (walk.next()) {
        const T* from = x.at<const T>(n * x.stride(0) + walk.offset[0]);
        for (int32_t i = 0; i < walk.length; ++i) {
          const int64_t at = load_int(indices.dtype(), indices.at<const uint8_t>(n * indices.stride(0) + walk.offset[1] + i * width));
          if (at < 0 || at >= plane) return {Status::kInvalidArgument, Why::kIndexRange};
          y.at<T>(n * y.stride(0) + plane_offset(*y.desc, static_cast<int32_t>(at)))[i] = from[i];
        }
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::max_unpool, MaxUnpool>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::max_unpool
