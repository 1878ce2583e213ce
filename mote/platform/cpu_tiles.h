#pragma once

namespace mote {

// Asks the system for the tiles of an x86 processor (AMX), for all threads of the process. False: it has none to give.
bool may_use_tiles() noexcept;

}  // namespace mote
