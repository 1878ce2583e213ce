#include <malloc.h>

#include "mote/platform/memory.h"

namespace mote {

void* host_allocate(size_t bytes, size_t alignment) noexcept {
  return _aligned_malloc(bytes > 0 ? bytes : 1, alignment < sizeof(void*) ? sizeof(void*) : alignment);
}

void host_release(void* memory) noexcept { _aligned_free(memory); }

}  // namespace mote
