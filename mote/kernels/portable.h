#pragma once

#include <cstdint>

namespace mote::ops::q_softmax {
struct Attrs;
}
namespace mote::ops::q_reduce {
struct Attrs;
struct Scaling;
}  // namespace mote::ops::q_reduce

// What kernels compute once for a call, in portable code: the functions of mote/ops, compiled for an instruction set, would be shared with
// code for processors that lack it.
namespace mote::kernels {

// As ops::q_softmax::exponentials.
void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept;
// As ops::q_reduce::scaling.
ops::q_reduce::Scaling reduce_scaling(const ops::q_reduce::Attrs& a, int64_t n) noexcept;

}  // namespace mote::kernels
