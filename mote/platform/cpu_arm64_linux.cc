#include <sys/auxv.h>

#include "mote/platform/cpu.h"

namespace mote {

uint32_t cpu_features() noexcept {
  constexpr unsigned long kDotProduct = 1ul << 20, kI8mm = 1ul << 13;  // of AT_HWCAP and AT_HWCAP2
  uint32_t features = kCpuNeon;
  if ((getauxval(AT_HWCAP) & kDotProduct) != 0) features |= kCpuDotProduct;
  if ((getauxval(AT_HWCAP2) & kI8mm) != 0) features |= kCpuI8mm;
  return features;
}

}  // namespace mote
