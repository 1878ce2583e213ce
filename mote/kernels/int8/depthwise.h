#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of a quantized convolution whose groups have one input channel each, with weights in panels; null: there is none.
KernelFn select_q_depthwise(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
