#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of a convolution whose groups have one input channel each, f32 with weights in panels; null: there is none.
KernelFn select_depthwise(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
