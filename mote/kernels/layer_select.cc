// Compiled for instruction sets that add kernels of a few operators to another one (MOTE_ISA_BASE): what those do not serve, the other one
// does. Without a base: for a layer that the set itself asks first (MOTE_FIRST_ISA in isa_select.cc). MOTE_PROBED_ISA: the base, where a
// layer adds no products.

#include "mote/core/op.h"
#include "mote/kernels/probe/probe.h"
#include "mote/ops/op_id.h"

// The operators it serves.
#if !defined(MOTE_LAYER_LIST)
#define MOTE_LAYER_LIST "mote/kernels/int8/kernels.def"
#endif

namespace mote::kernels {

#if defined(MOTE_ISA_BASE)
namespace MOTE_ISA_BASE {
KernelFn select(uint16_t op, const OpContext& c) noexcept;
Probes probes() noexcept;
}  // namespace MOTE_ISA_BASE
#endif

namespace MOTE_ISA_NAME {

#if defined(MOTE_ISA_BASE)
#if defined(MOTE_PROBED_ISA)
Probes probes() noexcept { return MOTE_PROBED_ISA::probes(); }
#else
uint64_t probe_dot_s8(uint32_t rounds, float* sink) noexcept;

Probes probes() noexcept {
  Probes own = MOTE_ISA_BASE::probes();
  own.dot_s8 = &probe_dot_s8;
  return own;
}
#endif
#endif

#define MOTE_KERNEL(op) KernelFn select_##op(const OpContext&) noexcept;
#include MOTE_LAYER_LIST
#undef MOTE_KERNEL

static KernelFn select_own(uint16_t op, const OpContext& c) noexcept {
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(name) \
  case OpId::name:        \
    return select_##name(c);
#include MOTE_LAYER_LIST
#undef MOTE_KERNEL
    default: return nullptr;
  }
}

KernelFn select(uint16_t op, const OpContext& c) noexcept {
#if defined(MOTE_ISA_BASE)
  const KernelFn own = select_own(op, c);
  return own != nullptr ? own : MOTE_ISA_BASE::select(op, c);
#else
  return select_own(op, c);
#endif
}

}  // namespace MOTE_ISA_NAME
}  // namespace mote::kernels
