#pragma once

#include <cstdint>

#include "mote/core/cpu.h"

namespace mote {

// What an x86 processor says of itself: four registers for each leaf of CPUID, and which register states the system saves (XCR0).
struct CpuIdX86 {
  enum Leaf : uint8_t { kOne, kSeven, kSevenOne, kExtended, kLeaves };  // 1, 7, 7 with subleaf 1, 0x80000001
  enum Register : uint8_t { kA, kB, kC, kD, kRegisters };
  uint32_t words[kLeaves][kRegisters] = {};
  uint32_t saved_states = 0;
  bool may_use_tiles = false;
};

// A bit that a feature needs.
struct CpuBitX86 {
  uint32_t feature;
  CpuIdX86::Leaf leaf;
  CpuIdX86::Register word;
  uint8_t bit;
  const char* name;
};
inline constexpr CpuBitX86 kCpuBitsX86[] = {
#define MOTE_CPUID(feature, name, leaf, word, bit) {feature, CpuIdX86::leaf, CpuIdX86::word, bit, #name},
#include "mote/core/isa.def"
};

// Features all of whose bits are there, whose registers the system saves, and that those below them are there for.
uint32_t features_of(const CpuIdX86& id) noexcept;

}  // namespace mote
