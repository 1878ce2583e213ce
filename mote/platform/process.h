#pragma once

#include <cstdint>

namespace mote {

// What the operating system says of this process's memory. Fields it does not tell are 0.
struct ProcessMemory {
  uint64_t peak_resident_bytes = 0;
  uint64_t resident_bytes = 0;
  uint64_t anonymous_bytes = 0;  // resident, backed by no file: what the process costs beyond what it maps
};
ProcessMemory process_memory() noexcept;

}  // namespace mote
