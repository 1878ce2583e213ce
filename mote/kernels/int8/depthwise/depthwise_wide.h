#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

// The kernel of depthwise convolutions with common windows and enough channels (x86: 3x3 and 5x5, 64-bit Arm: 3x3); null where none
// applies.
KernelFn select_q_depthwise_wide(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
