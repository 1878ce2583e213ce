// Compiled for layers that another instruction set asks first (MOTE_FIRST_ISA): products that suit them.

#include "mote/core/op.h"
#include "mote/ops/op_id.h"

namespace mote::kernels::MOTE_ISA_NAME {

#define MOTE_KERNEL(op) KernelFn select_##op(const OpContext&) noexcept;
#include "mote/kernels/int8/kernels_dot.def"
#undef MOTE_KERNEL

KernelFn select(uint16_t op, const OpContext& c) noexcept {
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(name) \
  case OpId::name:        \
    return select_##name(c);
#include "mote/kernels/int8/kernels_dot.def"
#undef MOTE_KERNEL
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
