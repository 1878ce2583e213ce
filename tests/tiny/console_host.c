/* examples/tiny/project/console.h on the host. The file is named by the environment. */

#include <stdio.h>
#include <stdlib.h>

#include "console.h"

static FILE* opened;

void console_exit(int code) { exit(code); }
void console_text(const char* text) { fputs(text, stdout); }
void console_number(int32_t value) { printf("%d", (int)value); }
const char* console_argument(void) { return getenv("CONSOLE_ARGUMENT"); }
int console_open(const char* path) { return (opened = path != NULL ? fopen(path, "rb") : NULL) != NULL ? 1 : -1; }
uint32_t console_read(int file, void* to, uint32_t count) {
  (void)file;
  return (uint32_t)fread(to, 1, count, opened);
}
