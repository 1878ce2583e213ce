#pragma once

#include <cstdint>

namespace mote {

// What a processor can do beyond its architecture's base, as bits: the features of isa.def, detected by platform/cpu.h.
enum CpuFeature : uint32_t {
#define MOTE_FEATURE(name, bit, requires, states) name = 1u << bit,
#include "mote/core/isa.def"
};

}  // namespace mote
