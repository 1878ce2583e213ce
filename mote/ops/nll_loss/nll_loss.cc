#include "mote/ops/nll_loss/nll_loss.h"

namespace mote::ops::nll_loss {
namespace {

template <class T>
struct NllLoss {
  static Status run(const OpContext& c) noexcept {
    using C = Compute<T>;
    return class_loss<T>(
        c, c.attrs<Attrs>(), [](const T*, int32_t) {},
        [](int32_t k, const T* line, int32_t stride) { return static_cast<C>(line_at(line, k, stride)); });
  }
};

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick<OpId::nll_loss, NllLoss>(c.input(0).dtype(), Types{}); }

}  // namespace mote::ops::nll_loss
