#include "mote/kernels/select.h"

#include "mote/core/cpu.h"

namespace mote::kernels {

// isa_select.cc, once for every ISA variant.
#define MOTE_ISA(name, needs)                              \
  namespace name {                                         \
  KernelFn select(uint16_t op, const OpContext&) noexcept; \
  Probes probes() noexcept;                                \
  }
#include "isas_built.def"
#undef MOTE_ISA

namespace {

struct IsaInfo {
  const char* name;
  uint32_t needs;
  SelectFn select;
  Probes (*probes)() noexcept;
};
constexpr IsaInfo kIsas[] = {
    {"portable", 0, nullptr, nullptr},
#define MOTE_ISA(name, needs) {#name, needs, &name::select, &name::probes},
#include "isas_built.def"
#undef MOTE_ISA
};

}  // namespace

SelectFn select_for(Isa isa) noexcept { return kIsas[static_cast<uint8_t>(isa)].select; }

Probes probes_for(Isa isa) noexcept { return isa == Isa::kPortable ? Probes{} : kIsas[static_cast<uint8_t>(isa)].probes(); }

bool can_run(Isa isa, uint32_t features) noexcept {
  const uint32_t needs = kIsas[static_cast<uint8_t>(isa)].needs;
  return (features & needs) == needs;
}

Isa best_isa(uint32_t features) noexcept {
  Isa best = Isa::kPortable;
  for (uint8_t i = 1; i < static_cast<uint8_t>(Isa::kCount); ++i)
    if (can_run(static_cast<Isa>(i), features)) best = static_cast<Isa>(i);
  return best;
}

const char* isa_name(Isa isa) noexcept { return kIsas[static_cast<uint8_t>(isa)].name; }

}  // namespace mote::kernels
