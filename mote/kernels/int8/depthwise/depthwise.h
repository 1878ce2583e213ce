#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// The kernel of a quantized convolution with one input channel per group and weights in panels; null where none applies.
KernelFn select_q_depthwise(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
