#include "mote/ops/conv/conv.h"

namespace mote::ops::conv {
namespace {

template <class T, class W>
using Conv = Convolution<Attrs, T, W, false>;

}  // namespace

KernelFn select(const OpContext& c) noexcept { return pick_weighted<OpId::conv, Conv>(c.input(0).dtype(), c.input(1).dtype(), Types{}); }

}  // namespace mote::ops::conv
