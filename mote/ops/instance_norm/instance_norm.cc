#include "mote/ops/instance_norm/instance_norm.h"

namespace mote::ops::instance_norm {
namespace {

template <class T>
struct InstanceNorm {
  static Status run(const OpContext& c) noexcept {
    const Tensor& x = c.input(0);
    NormOperands operands(x, c.output(0));
    operands.scale = optional_operand(c, 1, x.rank());
    operands.bias = optional_operand(c, 2, x.rank());
    const uint32_t spatial = x.rank() > 2 ? axes_from(1) & ~axes_from(x.rank() - 1) : 0;
    normalize_slices<T>(operands, spatial, true, InverseDeviation{c.attrs<Attrs>().epsilon});
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::instance_norm, InstanceNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::instance_norm
