#pragma once

#include <cstddef>

namespace mote {

// Memory from the host, for the convenience layer and tools; core, format, ops and runtime never call this.
// `alignment` is a power of two. Null when there is none. Any thread.
void* host_allocate(size_t bytes, size_t alignment) noexcept;
void host_release(void* memory) noexcept;  // null is fine

}  // namespace mote
