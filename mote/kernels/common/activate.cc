#include "mote/kernels/common/activate.h"

namespace mote::kernels::MOTE_ISA_NAME {

void activate_row(uint32_t kind, float a, float b, const float* x, float* y, int32_t count) {
  const VF va = broadcast(a), vb = broadcast(b);
  with_activation(
      kind, [&](auto k) MOTE_LAMBDA { map_row(x, y, count, [&](VF v) MOTE_LAMBDA { return activate<decltype(k)::value>(v, va, vb); }); });
}

}  // namespace mote::kernels::MOTE_ISA_NAME
