#include "mote/ops/layer_norm/layer_norm.h"

namespace mote::ops::layer_norm {
namespace {

template <class T>
struct LayerNorm {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const Tensor& x = c.input(0);
    NormOperands operands(x, c.output(0));
    operands.scale = optional_operand(c, 1, x.rank());
    operands.bias = optional_operand(c, 2, x.rank());
    if (c.has_output(1)) operands.mean = {*c.output(1).desc, c.output(1).data};
    if (c.has_output(2)) operands.inverse = {*c.output(2).desc, c.output(2).data};
    normalize_slices<T>(operands, axes_from(positive_axis(a.axis, x.rank())), true, InverseDeviation{a.epsilon});
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::layer_norm, LayerNorm>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::layer_norm
