// In place of the operators' own sources (mote/ops/q_conv/q_conv.cc, ...), for programs whose every instruction has a kernel here: then the
// portable kernels need not be linked. Other instructions are refused when a program is opened.

#include "mote/kernels/cortexm/runtime/select.h"
#include "mote/ops/q_avg_pool/q_avg_pool.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::ops {

KernelFn q_conv::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_conv), c); }
KernelFn q_matmul::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_matmul), c); }
KernelFn q_avg_pool::select(const OpContext& c) noexcept { return cortexm::select(static_cast<uint16_t>(OpId::q_avg_pool), c); }

}  // namespace mote::ops
