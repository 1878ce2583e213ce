/* What a board gives Mote where there is no operating system. Each function has a weak default (board_defaults.c) that says
 * "there is none"; a board defines those it has.
 *
 * Files: a board that has a file system or a flash partition table gives open, size, read and close; one that can address the
 * bytes directly also gives map. Handles are the board's own numbers, 0 or more.
 */
#ifndef MOTE_PLATFORM_BOARD_H_
#define MOTE_PLATFORM_BOARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since any fixed moment, never going back. Default: 0, so that no deadline ever passes. */
uint64_t mote_board_now_ns(void);

/* One line of text, without its end, for the board's console. Default: dropped. */
void mote_board_log(const char* text);

/* Called when an internal promise is broken. Default: stops in an endless loop. Must not return. */
void mote_board_abort(const char* text);

/* A handle, or -1. Default: -1. */
int mote_board_file_open(const char* path, uint64_t* size);
/* 0 when all `size` bytes were read. Default: -1. */
int mote_board_file_read(int handle, uint64_t offset, void* to, size_t size);
void mote_board_file_close(int handle);
/* The file's bytes in the address space (memory-mapped flash), or NULL. Default: NULL. */
const void* mote_board_file_map(const char* path, uint64_t* size);

/* Memory for the convenience layer; the runtime itself asks for none. Default: NULL. */
void* mote_board_allocate(size_t bytes, size_t alignment);
void mote_board_release(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_PLATFORM_BOARD_H_ */
