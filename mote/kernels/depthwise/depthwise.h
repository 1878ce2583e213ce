#pragma once

#include "mote/core/op.h"
#include "mote/kernels/common/simd.h"

namespace mote::kernels::MOTE_ISA_NAME::depthwise {

// The kernel of an f32 depthwise convolution (groups of one input channel and one output) with packed weights: f32, or s8 with a scale for
// each channel (conv's group_size is at least the number of taps). Null: not supported.
KernelFn select_depthwise(const OpContext& c) noexcept;

// The kernel for groups of any number of input channels and outputs.
KernelFn select_grouped(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::depthwise
