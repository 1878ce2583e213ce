#pragma once

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME::weights {

// The kernel of matmul with an f32 LHS and group-scaled s4 or s8 weights; null: not supported.
KernelFn select_matmul_grouped(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::weights
