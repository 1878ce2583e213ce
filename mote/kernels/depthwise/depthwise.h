#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of a convolution whose groups have one input channel and one output each, f32 with weights in panels: f32, or bytes with a
// scale for each channel (conv's group_size at least the taps).
KernelFn select_depthwise(const OpContext& c) noexcept;

// The kernel for any number of channels and outputs in a group.
KernelFn select_grouped(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
