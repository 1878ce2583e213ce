#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include "mote/platform/clock.h"

namespace mote {

uint64_t clock_now_ns() noexcept {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&per_second);
  const uint64_t t = static_cast<uint64_t>(ticks.QuadPart), f = static_cast<uint64_t>(per_second.QuadPart);
  // Whole seconds apart, so that the product does not overflow.
  return t / f * 1000000000u + t % f * 1000000000u / f;
}

}  // namespace mote
