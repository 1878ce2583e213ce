#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of common depthwise convolutions of 3x3 taps where it beats the general one (64-bit Arm); null: there is none.
KernelFn select_depthwise_3x3(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
