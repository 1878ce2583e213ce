#include <sys/auxv.h>

#include "mote/platform/cpu.h"

namespace mote {

// 32-bit Arm: kernels fuse multiply-adds, which came with the fourth version of the floating-point unit.
uint32_t cpu_features() noexcept {
  constexpr unsigned long kNeon = 1ul << 12, kVfpv4 = 1ul << 16, kNeeded = kNeon | kVfpv4;  // of AT_HWCAP
  return (getauxval(AT_HWCAP) & kNeeded) == kNeeded ? uint32_t{kCpuNeon} : 0u;
}

}  // namespace mote
