#include "mote/ops/rms_norm/rms_norm.h"

namespace mote::ops::rms_norm {
namespace {

template <class T>
struct RmsNorm {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& x = c.input(0);
    NormOperands operands(x, c.output(0));
    operands.scale = optional_operand(c, 1, x.rank());
    normalize_slices<T>(operands, axes_from(positive_axis(a.axis, x.rank())), false, InverseDeviation{a.epsilon});
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::rms_norm, RmsNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::rms_norm
