#pragma once

#include <cstdint>

namespace mote::ops::q_softmax {
struct Attrs;
}

// What kernels of q_softmax compute once for a call or a row, in portable code: the functions of mote/ops, compiled for an instruction set,
// would be shared with code for processors that lack it.
namespace mote::kernels {

// As ops::q_softmax::exponentials and reciprocal.
void softmax_exponentials(const ops::q_softmax::Attrs& a, int32_t* out_exps) noexcept;
int32_t softmax_reciprocal(int64_t sum, int width, int* out_exponent) noexcept;

}  // namespace mote::kernels
