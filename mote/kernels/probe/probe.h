#pragma once

#include <cstdint>

namespace mote::kernels {

// Loops at an ISA variant's peak rates, to be timed by the caller.
struct Probes {
  // Arithmetic in registers, proportional to `rounds`. Returns the number of operations; a multiply-add counts as two. sink: three floats,
  // read and written.
  uint64_t (*fma_f32)(uint32_t rounds, float* sink) noexcept = nullptr;
  uint64_t (*dot_s8)(uint32_t rounds,
                     float* sink) noexcept = nullptr;  // with the instructions of the integer kernels; null: there are none
  // One pass over memory. Addresses are multiples of 64; `bytes` is a multiple of kProbeBlock.
  void (*read)(const uint8_t* from, uint64_t bytes, float* sink) noexcept = nullptr;
  void (*write)(uint8_t* to, uint64_t bytes) noexcept = nullptr;
  void (*copy)(const uint8_t* from, uint8_t* to, uint64_t bytes) noexcept = nullptr;
};
inline constexpr uint64_t kProbeBlock = 512;

}  // namespace mote::kernels
