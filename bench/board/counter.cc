#include "bench/board/counter.h"

#include <numeric>

#include "tests/baremetal/semihosting.h"

extern "C" void systick();

namespace {

volatile uint32_t wraps;
volatile uint32_t& reg(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
constexpr uint32_t kCurrent = 0xe000e018, kControl = 0xe000e010;
constexpr uint64_t kTicks = 0x1000000;  // of one wrap

// Instructions of a tick: a fraction in lowest terms. Its denominator is a power of two, so no division in 64 bits is linked.
constexpr uint64_t kNanoseconds = 1000000000, kShared = std::gcd(kNanoseconds, uint64_t{MOTE_BOARD_CLOCK_HZ} * 64);
constexpr uint64_t kOver = kNanoseconds / kShared, kUnder = uint64_t{MOTE_BOARD_CLOCK_HZ} * 64 / kShared;
static_assert((kUnder & (kUnder - 1)) == 0);

}  // namespace

extern "C" void systick() { wraps = wraps + 1; }

uint64_t mote::board::exact_instructions() {
  reg(kControl) = 7;  // with interrupt
  uint32_t before, ticks;
  do {
    before = wraps;
    ticks = 0xffffff - reg(kCurrent);
  } while (before != wraps);
  return (before * kTicks + ticks) * kOver / kUnder;
}
