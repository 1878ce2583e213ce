// Compiled once for every instruction set: from an operator to its family's choice.

#include "mote/core/op.h"
#include "mote/ops/op_id.h"

// MOTE_INTEGER_ISA: the set whose integer kernels serve this one, which has none.
#if defined(MOTE_INTEGER_ISA)
namespace mote::kernels::MOTE_INTEGER_ISA {
KernelFn select(uint16_t op, const OpContext&) noexcept;
}
#define MOTE_OTHERWISE MOTE_INTEGER_ISA::select(op, c)
#else
#define MOTE_OTHERWISE nullptr
#endif

// MOTE_FIRST_ISA: a layer that is asked first (layer_select.cc without a base).
#if defined(MOTE_FIRST_ISA)
namespace mote::kernels::MOTE_FIRST_ISA {
KernelFn select(uint16_t op, const OpContext&) noexcept;
}
#define MOTE_FIRST MOTE_FIRST_ISA::select(op, c)
#else
#define MOTE_FIRST nullptr
#endif

namespace mote::kernels::MOTE_ISA_NAME {

#define MOTE_KERNEL(op) KernelFn select_##op(const OpContext&) noexcept;
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL

KernelFn select(uint16_t op, const OpContext& c) noexcept {
  if (const KernelFn first = MOTE_FIRST; first != nullptr) return first;
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(name) \
  case OpId::name:        \
    return select_##name(c);
#include "mote/kernels/kernels.def"
#undef MOTE_KERNEL
    default: return MOTE_OTHERWISE;
  }
}

}  // namespace mote::kernels::MOTE_ISA_NAME
