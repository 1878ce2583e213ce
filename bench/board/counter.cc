#include "bench/board/counter.h"

#include "tests/baremetal/semihosting.h"

extern "C" void systick();

namespace {

volatile uint32_t wraps;
volatile uint32_t& reg(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
constexpr uint32_t kCurrent = 0xe000e018, kControl = 0xe000e010;
constexpr uint64_t kTicks = 0x1000000;  // of one wrap

}  // namespace

extern "C" void systick() { wraps = wraps + 1; }

uint64_t mote::board::exact_instructions() {
  reg(kControl) = 7;  // with interrupt
  uint32_t before, ticks;
  do {
    before = wraps;
    ticks = 0xffffff - reg(kCurrent);
  } while (before != wraps);
  return (before * kTicks + ticks) * 1000000000 / MOTE_BOARD_CLOCK_HZ / 64;
}
