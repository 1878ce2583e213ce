#include "mote/ops/q_conv_transpose/q_conv_transpose.h"

namespace mote::ops::q_conv_transpose {
namespace {

template <class X>
struct ConvTranspose {
  static Status run(const OpContext& c) noexcept {
    const Attrs& a = c.attrs<Attrs>();
    const QuantEpilogue epilogue(c, a);
    Window window = make_window(a, *c.input(0).desc, c.input(1).desc->dims + 1, *c.output(0).desc);
    window.transposed = true;
    with_weight_type(c.input(1).dtype(), [&](auto type) { quant_window_sums<X, decltype(type)>(c, epilogue, window, a.groups); });
    return Status::kOk;
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::q_conv_transpose, ConvTranspose>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::q_conv_transpose
