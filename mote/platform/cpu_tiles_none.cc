#include "mote/platform/cpu_tiles.h"

namespace mote {

// Systems that this was not tried on.
bool may_use_tiles() noexcept { return false; }

}  // namespace mote
