#include "mote/platform/board.h"
#include "mote/platform/log.h"

namespace mote {

void platform_log(LogLevel, const char* text) noexcept { mote_board_log(text); }
void platform_abort(const char* text) noexcept { mote_board_abort(text); }

}  // namespace mote
