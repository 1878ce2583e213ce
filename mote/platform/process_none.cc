#include "mote/platform/process.h"

namespace mote {

ProcessMemory process_memory() noexcept { return {}; }

}  // namespace mote
