#include "mote/kernels/softmax_tables.h"

#include "mote/ops/q_softmax/q_softmax.h"

namespace mote::kernels {

void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept { ops::q_softmax::exponentials(a, out_exps); }

int32_t softmax_reciprocal(int64_t sum, int width, int* out_exponent) noexcept {
  return ops::q_softmax::reciprocal(sum, width, out_exponent);
}

}  // namespace mote::kernels
