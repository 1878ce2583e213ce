#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::depthwise {

// The kernel of 3x3 depthwise convolutions of stride 1 or 2, on 64-bit Arm, where it is faster than the general one; null: not supported.
KernelFn select_depthwise_3x3(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise
