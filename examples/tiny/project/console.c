#include "console.h"

#include <string.h>

enum { kOpen = 0x01, kWrite0 = 0x04, kRead = 0x06, kCommandLine = 0x15, kExitExtended = 0x20 };

static uint32_t semihost(uint32_t call, const void* argument) {
  register uint32_t r0 __asm("r0") = call;
  register const void* r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void console_exit(int code) {
  const uint32_t block[2] = {0x20026, (uint32_t)code};
  semihost(kExitExtended, block);
}

void console_text(const char* text) { semihost(kWrite0, text); }

void console_number(int32_t value) {
  char digits[12];
  char* p = digits + 11;
  uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  *p = 0;
  do *--p = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) *--p = '-';
  console_text(p);
}

const char* console_argument(void) {
  static char line[512];
  const uint32_t block[2] = {(uint32_t)line, sizeof line};
  return semihost(kCommandLine, block) == 0 ? line : "";
}

int console_open(const char* path) {
  const uint32_t block[3] = {(uint32_t)path, 1 /* "rb" */, (uint32_t)strlen(path)};
  return (int)semihost(kOpen, block);
}

uint32_t console_read(int file, void* to, uint32_t count) {
  const uint32_t block[3] = {(uint32_t)file, (uint32_t)to, count};
  return count - semihost(kRead, block); /* the call says how many are missing */
}
