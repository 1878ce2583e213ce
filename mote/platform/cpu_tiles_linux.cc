#include <sys/syscall.h>
#include <unistd.h>

#include "mote/platform/cpu_tiles.h"

namespace mote {

bool may_use_tiles() noexcept {
  // From asm/prctl.h and the processor's list of states.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace mote
