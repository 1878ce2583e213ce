#include "mote/runtime/backend_registry.h"

#include <cstring>

namespace mote {

const mote_backend* find_backend(BackendList list, const char* name) noexcept {
  for (const mote_backend* b : list)
    if (std::strcmp(b->name, name) == 0) return b;
  return nullptr;
}

}  // namespace mote
