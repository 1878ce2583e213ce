#include "mote/ops/conv_transpose/conv_transpose.h"

namespace mote::ops::conv_transpose {
namespace {

template <class T, class W>
using ConvTranspose = Convolution<Attrs, T, W, true>;

}  // namespace

KernelFn select(const OpContext& c) noexcept {
  return pick_weighted<OpId::conv_transpose, ConvTranspose>(c.input(0).dtype(), c.input(1).dtype(), Types{});
}

}  // namespace mote::ops::conv_transpose
