#pragma once

#include "mote/core/op.h"

namespace mote::cortexm {

// Kernels for .mote programs on microcontrollers, for InstanceOptions::select: convolutions, matrix products and averages of 8-bit tensors,
// with the file's plain weights. Null: not supported, the portable kernel runs. Kernels use up to 4.5 kB of stack, less for smaller layers.
KernelFn select(uint16_t op, const OpContext& c) noexcept;

}  // namespace mote::cortexm
