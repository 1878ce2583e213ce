#include "mote/platform/board.h"
#include "mote/platform/memory.h"

namespace mote {

void* host_allocate(size_t bytes, size_t alignment) noexcept { return mote_board_allocate(bytes, alignment); }
void host_release(void* memory) noexcept { mote_board_release(memory); }

}  // namespace mote
