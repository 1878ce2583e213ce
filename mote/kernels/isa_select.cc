// Compiled once for every instruction set: from an operator to its family's choice.

#include "mote/core/op.h"
#include "mote/ops/op_id.h"

namespace mote::kernels::MOTE_ISA_NAME {

#define MOTE_KERNEL(op) KernelFn select_##op(const OpContext&) noexcept;
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL

KernelFn select(uint16_t op, const OpContext& c) noexcept {
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(name) \
  case OpId::name:        \
    return select_##name(c);
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL
    default: return nullptr;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
