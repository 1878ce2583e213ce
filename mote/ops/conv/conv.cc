#include "mote/ops/conv/conv.h"

namespace mote::ops::conv {
namespace {

template <class T, class W>
using Conv = Convolution<Attrs, T, W, false>;

}  // namespace

// Fast kernels read depthwise weights as floats: bytes whose groups have scales are widened before, all of them.
Scratch scratch(const OpContext& c) noexcept {
  const Attrs& a = c.attrs<Attrs>();
  const Tensor& w = c.input(1);
  if (a.group_size == 0 || a.groups == 1 || w.dtype() != DType::s8 || w.dim(w.rank() - 1) != 1 || w.dim(0) != a.groups) return {};
  const uint64_t taps = static_cast<uint64_t>(w.count() / a.groups), panels = (static_cast<uint64_t>(a.groups) + 15) / 16;
  const uint64_t bytes = (panels * taps + 3) * 16 * sizeof(float);
  return {bytes > 0xfffffff0u ? 0xfffffff0u : static_cast<uint32_t>(bytes), 0};
}

KernelFn select(const OpContext& c) noexcept { return pick_weighted<OpId::conv, Conv>(c.input(0).dtype(), c.input(1).dtype(), Types{}); }

}  // namespace mote::ops::conv
