#include "mote/kernels/portable.h"

#include "mote/ops/q_reduce/q_reduce.h"
#include "mote/ops/q_softmax/q_softmax.h"

namespace mote::kernels {

void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept { ops::q_softmax::exponentials(a, out_exps); }

ops::q_reduce::Scaling reduce_scaling(const ops::q_reduce::Attrs& a, int64_t n) noexcept { return ops::q_reduce::scaling(a, n); }

}  // namespace mote::kernels
