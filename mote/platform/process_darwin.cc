#include <sys/resource.h>

#include "mote/platform/process.h"

namespace mote {

ProcessMemory process_memory() noexcept {
  ProcessMemory m;
  rusage usage;
  // Bytes here, unlike on other systems.
  if (getrusage(RUSAGE_SELF, &usage) == 0) m.peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss);
  return m;
}

}  // namespace mote
