#pragma once

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME {

// matmul of f32 with packed s4 or s8 weights and scales of groups; null for others.
KernelFn select_matmul_grouped(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
