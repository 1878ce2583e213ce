#pragma once

#include <cstdint>

namespace mote::kernels {

// What an instruction set can do at most, to be timed by the caller.
struct Probes {
  // Arithmetic in registers, `rounds` times some. Returns how many operations that was; a multiply-add is two. sink: three numbers,
  // changed.
  uint64_t (*fma_f32)(uint32_t rounds, float* sink) noexcept = nullptr;
  uint64_t (*dot_s8)(uint32_t rounds, float* sink) noexcept = nullptr;  // as the integer kernels multiply; null: there are none
  // Goes over memory once. Addresses are multiples of 64, bytes of kProbeBlock.
  void (*read)(const uint8_t* from, uint64_t bytes, float* sink) noexcept = nullptr;
  void (*write)(uint8_t* to, uint64_t bytes) noexcept = nullptr;
  void (*copy)(const uint8_t* from, uint8_t* to, uint64_t bytes) noexcept = nullptr;
};
inline constexpr uint64_t kProbeBlock = 512;

}  // namespace mote::kernels
