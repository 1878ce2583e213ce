#include <cpuid.h>

#include "mote/platform/cpu.h"
#include "mote/platform/cpu_tiles.h"

namespace mote {
namespace {

struct CpuId {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  CpuId(uint32_t leaf, uint32_t sub) {
    if (__get_cpuid_count(leaf, sub, &a, &b, &c, &d) == 0) a = b = c = d = 0;
  }
};

bool bit(uint32_t word, int i) { return (word >> i & 1) != 0; }

// Which register states the system saves: without that, instructions on them fault.
uint32_t saved_states() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

uint32_t cpu_features() noexcept {
  const CpuId one(1, 0), seven(7, 0), seven_one(7, 1);
  if (!bit(one.c, 27)) return 0;  // OSXSAVE
  const uint32_t saved = saved_states();
  const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6, tiles = (saved & 0x60000) == 0x60000;
  uint32_t features = 0;
  const bool avx2 = ymm && bit(seven.b, 5) && bit(seven.b, 8) && bit(one.c, 12) && bit(one.c, 29);
  if (avx2) features |= kCpuAvx2;
  const bool avx512 = avx2 && zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31);
  if (avx512) features |= kCpuAvx512;
  if (avx512 && bit(seven.c, 11)) features |= kCpuAvx512Vnni;
  if (avx512 && bit(seven.c, 1)) features |= kCpuAvx512Vbmi;
  if (avx2 && bit(seven_one.a, 4)) features |= kCpuAvxVnni;
  if (tiles && bit(seven.d, 24) && bit(seven.d, 25) && bit(seven.d, 22) && may_use_tiles()) features |= kCpuAmx;
  return features;
}

}  // namespace mote
