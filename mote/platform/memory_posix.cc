#include <stdlib.h>

#include "mote/platform/memory.h"

namespace mote {

void* host_allocate(size_t bytes, size_t alignment) noexcept {
  void* p = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  return posix_memalign(&p, alignment, bytes > 0 ? bytes : 1) == 0 ? p : nullptr;
}

void host_release(void* memory) noexcept { free(memory); }

}  // namespace mote
