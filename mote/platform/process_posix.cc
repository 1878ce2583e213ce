#include <stdio.h>
#include <sys/resource.h>

#include "mote/platform/process.h"

namespace mote {

ProcessMemory process_memory() noexcept {
  ProcessMemory m;
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) m.peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  // Linux tells more; elsewhere the file is not there.
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
