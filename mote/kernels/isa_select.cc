// Compiled once for every ISA variant: dispatches an operator to the select_<op>() of its family; where that returns null, to the variant
// that this one extends.

#include "mote/core/op.h"
#include "mote/kernels/probe/probe.h"
#include "mote/ops/op_id.h"
#include "variant.h"

namespace mote::kernels {

#if defined(MOTE_ISA_BASE)
namespace MOTE_ISA_BASE {
KernelFn select(uint16_t op, const OpContext& c) noexcept;
Probes probes() noexcept;
}  // namespace MOTE_ISA_BASE
#endif

#if defined(MOTE_ISA_FIRST)
namespace MOTE_ISA_FIRST {
KernelFn select(uint16_t op, const OpContext& c) noexcept;
Probes probes() noexcept;
}  // namespace MOTE_ISA_FIRST
#endif

namespace MOTE_ISA_NAME {

#define MOTE_KERNEL(family, op)                      \
  namespace family {                                 \
  KernelFn select_##op(const OpContext& c) noexcept; \
  }
#include "variant_kernels.def"
#undef MOTE_KERNEL

static KernelFn select_own(uint16_t op, const OpContext& c) noexcept {
  switch (static_cast<OpId>(op)) {
#define MOTE_KERNEL(family, name) \
  case OpId::name:                \
    return family::select_##name(c);
#include "variant_kernels.def"
#undef MOTE_KERNEL
    default: return nullptr;
  }
}

KernelFn select(uint16_t op, const OpContext& c) noexcept {
#if defined(MOTE_ISA_FIRST)
  if (const KernelFn first = MOTE_ISA_FIRST::select(op, c); first != nullptr) return first;
#endif
#if defined(MOTE_ISA_BASE)
  const KernelFn own = select_own(op, c);
  return own != nullptr ? own : MOTE_ISA_BASE::select(op, c);
#else
  return select_own(op, c);
#endif
}

// Peak rates for `mote measure`: those of this variant's own kernels, and otherwise those of the variant that it extends.
#if defined(MOTE_ISA_HAS_FLOAT)
void add_float_probes(Probes* probes) noexcept;
#endif
#if defined(MOTE_ISA_HAS_DOT)
namespace int8 {
void add_dot_probe(Probes* probes) noexcept;
}
#endif

Probes probes() noexcept {
  Probes p;
#if defined(MOTE_ISA_BASE)
  p = MOTE_ISA_BASE::probes();
#endif
#if defined(MOTE_ISA_HAS_FLOAT)
  add_float_probes(&p);
#endif
#if defined(MOTE_ISA_HAS_DOT)
  int8::add_dot_probe(&p);
#endif
#if defined(MOTE_ISA_FIRST)
  // 8-bit weights as quantizers write them are multiplied by that part, so its rate is the one that counts.
  p.dot_s8 = MOTE_ISA_FIRST::probes().dot_s8;
#endif
  return p;
}

}  // namespace MOTE_ISA_NAME
}  // namespace mote::kernels
