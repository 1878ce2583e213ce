#pragma once

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME {

// The kernel of a product of two plain f32 matrices, or batches of them; null: there is none.
KernelFn select_matmul_dense(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME
