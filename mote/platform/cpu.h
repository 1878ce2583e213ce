#pragma once

#include "mote/core/cpu.h"

namespace mote {

// The features of the processor this runs on that the system lets programs use. Bits of CpuFeature.
uint32_t cpu_features() noexcept;

}  // namespace mote
