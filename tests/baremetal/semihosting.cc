#include "tests/baremetal/semihosting.h"

namespace mote::board {
namespace {

enum Call : uint32_t { kWrite0 = 0x04, kExitExtended = 0x20 };
constexpr uint32_t kApplicationExit = 0x20026;

uint32_t semihost(Call call, const void* argument) {
  register uint32_t r0 asm("r0") = call;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

volatile uint32_t& systick(uint32_t offset) { return *reinterpret_cast<volatile uint32_t*>(0xe000e010 + offset); }
constexpr uint32_t kControl = 0, kReload = 4, kCurrent = 8;
constexpr uint32_t kWrap = 0xffffff;
// The boards' processor clocks: 25 MHz (mps2-an386), 32 MHz (mps3-an547).
constexpr uint64_t kClockHz = MOTE_BOARD_CLOCK_HZ;

}  // namespace

void print(const char* text) { semihost(kWrite0, text); }

void print(uint64_t value) {
  char digits[21];
  char* p = digits + 20;
  *p = 0;
  do {
    // By 16 bits at a time: a division in 64 bits would be linked into what is measured.
    uint32_t rest = 0;
    uint64_t tenth = 0;
    for (int shift = 48; shift >= 0; shift -= 16) {
      const uint32_t part = rest << 16 | (value >> shift & 0xffff);
      tenth = tenth << 16 | part / 10;
      rest = part % 10;
    }
    *--p = static_cast<char>('0' + rest);
    value = tenth;
  } while (value != 0);
  print(p);
}

[[noreturn]] void exit(int code) {
  const uint32_t arguments[2] = {kApplicationExit, static_cast<uint32_t>(code)};
  semihost(kExitExtended, arguments);
  for (;;) {}
}

void start_counter() {
  systick(kReload) = kWrap;
  systick(kCurrent) = 0;
  systick(kControl) = 5;  // processor clock, no interrupt, on
}

uint64_t instructions() { return (kWrap - systick(kCurrent)) * uint64_t{1000000000} / kClockHz; }

}  // namespace mote::board
