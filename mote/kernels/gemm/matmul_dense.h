#pragma once

#include "mote/core/op.h"

namespace mote::kernels::MOTE_ISA_NAME::gemm {

// The kernel for two plain f32 matrices, or batches of them; null: not supported.
KernelFn select_matmul_dense(const OpContext& c) noexcept;

}  // namespace mote::kernels::MOTE_ISA_NAME::gemm
