#pragma once

#include "mote/core/op.h"
#include "mote/kernels/probe/probe.h"

namespace mote::kernels {

// The instruction sets of isa.def, behind the portable kernels.
enum class Isa : uint8_t {
  kPortable = 0,
#define MOTE_ISA(name, needs) name,
#include "isas_built.def"
#undef MOTE_ISA
  kCount,
};

// Finds the fast kernel of an operator for the operands at hand; null: there is none. For InstanceOptions::select.
using SelectFn = KernelFn (*)(uint16_t op, const OpContext&) noexcept;

// Null for kPortable.
SelectFn select_for(Isa isa) noexcept;

// What the instruction set can do at most. Nothing for kPortable.
Probes probes_for(Isa isa) noexcept;

// The most able instruction set of a machine with these features (platform/cpu.h).
Isa best_isa(uint32_t features) noexcept;
// True when a machine with these features can run it.
bool can_run(Isa isa, uint32_t features) noexcept;

const char* isa_name(Isa isa) noexcept;

}  // namespace mote::kernels
