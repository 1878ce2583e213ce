#pragma once

#include "mote/core/op.h"

namespace mote::cortexm {

// Kernels for .mote programs on microcontrollers, for InstanceOptions::select: products of 8-bit tensors with weights as the file has them.
// Null where there is none: the operator's own kernel runs. They use up to 4.5 kB of stack, less for smaller layers.
KernelFn select(uint16_t op, const OpContext& c) noexcept;

}  // namespace mote::cortexm
