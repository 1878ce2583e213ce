#pragma once

#include <cstdint>

namespace mote {

// What a processor can do beyond its architecture's base, as bits. platform/cpu.h finds out, kernels choose by it.
enum CpuFeature : uint32_t {
  kCpuAvx2 = 1u << 0,        // with FMA, BMI2 and F16C
  kCpuAvx512 = 1u << 1,      // F, BW, DQ, VL
  kCpuAvx512Vnni = 1u << 2,  // 8-bit dot products in 512-bit registers
  kCpuAvxVnni = 1u << 3,     // the same in 256-bit registers
  kCpuAmx = 1u << 4,         // tiles, int8 and bf16
  kCpuAvx512Vbmi = 1u << 5,  // permutations of bytes in 512-bit registers
  kCpuNeon = 1u << 8,
  kCpuDotProduct = 1u << 9,
  kCpuI8mm = 1u << 10,
  kCpuWasmSimd = 1u << 16,
};

}  // namespace mote
