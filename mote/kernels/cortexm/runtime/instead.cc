// Replaces the portable kernels' sources (mote/ops/q_conv/q_conv.cc, ...) in builds for programs whose every instruction has a kernel here,
// so that the portable kernels are not linked. Programs with other instructions are rejected when opened.

#include "mote/kernels/cortexm/runtime/select.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::ops {

KernelFn q_conv::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_conv), c); }
KernelFn q_matmul::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_matmul), c); }
KernelFn q_avg_pool::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_avg_pool), c); }

}  // namespace mote::ops
