#pragma once

// The debugger's console and files (semihosting), in place of a UART, a microphone and a camera.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void console_exit(int code);
void console_text(const char* text);
void console_number(int32_t value);

// What QEMU was given as `arg=`; "" when nothing.
const char* console_argument(void);
// A file of the host for reading; less than 0 when there is none.
int console_open(const char* path);
// Reads up to `count` bytes; how many there were.
uint32_t console_read(int file, void* to, uint32_t count);

#ifdef __cplusplus
}
#endif
