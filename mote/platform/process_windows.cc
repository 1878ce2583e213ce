#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <psapi.h>

#include "mote/platform/process.h"

namespace mote {

ProcessMemory process_memory() noexcept {
  ProcessMemory m;
  PROCESS_MEMORY_COUNTERS_EX c = {};
  if (GetProcessMemoryInfo(GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&c), sizeof c)) {
    m.peak_resident_bytes = c.PeakWorkingSetSize;
    m.resident_bytes = c.WorkingSetSize;
    m.anonymous_bytes = c.PrivateUsage;
  }
  return m;
}

}  // namespace mote
