#pragma once

#include "mote/kernels/select.h"
#include "mote/platform/cpu.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

// The kernels of one of the instruction sets that this build has and this machine runs; null: the portable ones.
inline kernels::SelectFn any_kernels(Dice& dice) {
  const uint32_t features = cpu_features();
  for (;;) {
    const auto isa = static_cast<kernels::Isa>(dice.below(static_cast<uint32_t>(kernels::Isa::kCount)));
    if (kernels::can_run(isa, features)) return kernels::select_for(isa);
  }
}

}  // namespace mote::fuzz
