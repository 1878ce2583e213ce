#include "mote/ops/q_concat/q_concat.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::q_concat {
namespace {

template <class T>
struct Concat {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& y = c.output(0);
    const int axis = a.axis < 0 ? a.axis + y.rank() : a.axis;
    const IntRange range = int_range(y.dtype());
    int32_t start = 0;
    for (int i = 2; i < c.input_count; ++i) {
      const Tensor& x = c.input(i);
      const float scale = c.input(0).as<const float>()[i - 2];
      const int32_t zero = c.input(1).as<const int32_t>()[i - 2];
      TensorDesc part = *y.desc;
      part.dims[axis] = x.dim(axis);
      RowWalk<2> parts(*x.desc, {x.desc, &part});
      while (parts.next()) {
        const T* in = x.at<const T>(parts.offset[0]);
        T* out = y.at<T>(parts.offset[1] + start * y.stride(axis));
        for (int32_t k = 0; k < parts.length; ++k) out[k] = static_cast<T>(convert(a, scale, zero, in[k], range));
      }
      start += x.dim(axis);
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_concat, Concat>(c.input(2).dtype(), Types{}); }

}  // namespace mote::ops::q_concat
