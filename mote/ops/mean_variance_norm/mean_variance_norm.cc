#include "mote/ops/mean_variance_norm/mean_variance_norm.h"

namespace mote::ops::mean_variance_norm {
namespace {

template <class T>
struct MeanVarianceNorm {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& x = c.input(0);
    uint32_t inner = 0;
    for (int i = 0; i < a.axis_count; ++i) inner |= 1u << positive_axis(a.axes[i], x.rank());
    const C epsilon = static_cast<C>(a.epsilon);
    normalize_slices<T>(NormOperands(x, c.output(0)), inner, true, [&](C variance) {
      return a.epsilon_inside != 0 ? 1 / std::sqrt(variance + epsilon) : 1 / (std::sqrt(variance) + epsilon);
    });
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::mean_variance_norm, MeanVarianceNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::mean_variance_norm
