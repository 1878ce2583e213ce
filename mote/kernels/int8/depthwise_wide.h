#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of common depthwise convolutions with enough channels (x86: 3x3 and 5x5, 64-bit Arm: 3x3); null: there is none.
KernelFn select_q_depthwise_wide(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
