#include "mote/ops/q_conv/q_conv.h"

namespace mote::ops::q_conv {
namespace {

template <class X>
struct Conv {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    QuantEpilogue epilogue(c, a);
    if (c.has_input(kResidual)) epilogue.add_residual(c.input(kResidual), sum_attrs(a));
    const Window window = make_window(a, *c.input(0).desc, c.input(1).desc->dims + 1, *c.output(0).desc);
    with_weight_type(c.input(1).dtype(), [&](auto type) { quant_window_sums<X, decltype(type)>(c, epilogue, window, a.groups); });
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_conv, Conv>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_conv
