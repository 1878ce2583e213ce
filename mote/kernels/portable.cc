#include "mote/kernels/portable.h"

#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"
#include "mote/ops/resize/coordinates.h"

namespace mote::kernels {

void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept { ops::q_softmax::exponentials(a, out_exps); }

ops::q_reduce::Scaling reduce_scaling(const ops::q_reduce::Attrs& a, int64_t n) noexcept { return ops::q_reduce::scaling(a, n); }

ResizeBetween resize_between(const ops::resize::Attrs& a, int axis, int32_t in, int32_t out, int32_t i) noexcept {
  const ops::resize::Taps<float> taps(a, axis, in, out, i);
  if (taps.count == 1) return {taps.index(0), taps.index(0), 0};
  return {taps.index(0), taps.index(1), taps.weight(1)};
}

}  // namespace mote::kernels
