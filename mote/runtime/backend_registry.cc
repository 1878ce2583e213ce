#include "mote/runtime/backend_registry.h"

#include "mote/core/text.h"

namespace mote {

const mote_backend* find_backend(BackendList list, const char* name) noexcept {
  for (const mote_backend* b : list)
    if (same_text(b->name, name)) return b;
  return nullptr;
}

}  // namespace mote
