#include <stdio.h>

#include "mote/platform/process.h"

namespace mote {

ProcessMemory process_memory() noexcept {
  ProcessMemory m;
  FILE* f = fopen("/proc/self/status", "r");
  if (f == nullptr) return m;
  char line[128];
  unsigned long long kb;
  while (fgets(line, sizeof line, f) != nullptr) {
    if (sscanf(line, "VmRSS: %llu kB", &kb) == 1) m.resident_bytes = kb * 1024;
    if (sscanf(line, "RssAnon: %llu kB", &kb) == 1) m.anonymous_bytes = kb * 1024;
    if (sscanf(line, "VmHWM: %llu kB", &kb) == 1) m.peak_resident_bytes = kb * 1024;
  }
  fclose(f);
  return m;
}

}  // namespace mote
