#include "mote/platform/board.h"
#include "mote/platform/clock.h"

namespace mote {

uint64_t clock_now_ns() noexcept { return mote_board_now_ns(); }

}  // namespace mote
