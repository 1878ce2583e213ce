#pragma once

#include "mote/core/op.h"
#include "mote/kernels/probe/probe.h"

namespace mote::kernels {

// The ISA variants of core/isa.def that this build has, after the portable kernels.
enum class Isa : uint8_t {
  kPortable = 0,
#define MOTE_ISA(name, needs) name,
#include "isas_built.def"
#undef MOTE_ISA
  kCount,
};

// Returns the fast kernel of an operator for the operands at hand; null: not supported. For InstanceOptions::select.
using SelectFn = KernelFn (*)(uint16_t op, const OpContext&) noexcept;

// Null for kPortable.
SelectFn select_for(Isa isa) noexcept;

// Loops at the variant's peak rates. Empty for kPortable.
Probes probes_for(Isa isa) noexcept;

// The last variant that a machine with these features (platform/cpu.h) can run.
Isa best_isa(uint32_t features) noexcept;
// True when a machine with these features can run it.
bool can_run(Isa isa, uint32_t features) noexcept;

const char* isa_name(Isa isa) noexcept;

}  // namespace mote::kernels
