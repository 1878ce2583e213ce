#include "mote/ops/batch_norm/batch_norm.h"

#include "mote/ops/common/row_walk.h"

namespace mote::ops::batch_norm {
namespace {

template <class T>
struct BatchNorm {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const InverseDeviation factor{a.epsilon};
    const Tensor &x = c.input(0), &scale = c.input(1), &bias = c.input(2), &mean = c.input(3), &variance = c.input(4), &y = c.output(0);
    // A channel vector, seen as (C, 1, ...) so that it lies along its axis.
    TensorDesc channels = *scale.desc;
    channels.rank = static_cast<uint8_t>(x.rank() > 0 ? x.rank() - positive_axis(a.axis, x.rank()) : 0);
    for (int i = 1; i < channels.rank; ++i) channels.dims[i] = 1;
    RowWalk<3> walk(*y.desc, {x.desc, &channels, y.desc}, c.rows);
    while (walk.next()) {
      const T* in = x.at<const T>(walk.offset[0]);
      T* out = y.at<T>(walk.offset[2]);
      const auto at = [&](const Tensor& t, int32_t i) { return static_cast<C>(t.at<const T>(walk.offset[1])[i * walk.step[1]]); };
      for (int32_t i = 0; i < walk.length; ++i) {
        const C v = (static_cast<C>(in[i]) - at(mean, i)) * factor(at(variance, i));
        out[i] = static_cast<T>(v * at(scale, i) + at(bias, i));
      }
    }
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::batch_norm, BatchNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::batch_norm
