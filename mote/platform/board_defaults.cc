#include "mote/platform/board.h"

#define MOTE_WEAK __attribute__((weak))

extern "C" {

MOTE_WEAK uint64_t mote_board_now_ns(void) { return 0; }
MOTE_WEAK void mote_board_log(const char*) {}
MOTE_WEAK void mote_board_abort(const char*) {
  for (volatile int forever = 1; forever != 0;) {}
}
MOTE_WEAK int mote_board_file_open(const char*, uint64_t*) { return -1; }
MOTE_WEAK int mote_board_file_read(int, uint64_t, void*, size_t) { return -1; }
MOTE_WEAK void mote_board_file_close(int) {}
MOTE_WEAK const void* mote_board_file_map(const char*, uint64_t*) { return nullptr; }
MOTE_WEAK void* mote_board_allocate(size_t, size_t) { return nullptr; }
MOTE_WEAK void mote_board_release(void*) {}

}  // extern "C"
