// What runs before board_main() on the QEMU boards: the vector table, floating point and vectors on, .data and .bss, then the end.
// No heap, no C++ constructors of static objects: the runtime has none, and the linker script fails when there are any.

#include <cstdint>

#include "tests/baremetal/semihosting.h"

extern "C" {
extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;
int board_main();
[[noreturn]] void reset();
[[noreturn]] void fault();
[[gnu::weak]] void systick();  // for programs that take the timer's interrupt
}

namespace {

volatile uint32_t& reg(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
constexpr uint32_t kCoprocessorAccess = 0xe000ed88, kConfigurationControl = 0xe000ed14;
constexpr uint32_t kFullAccessToFpu = 0xfu << 20, kLowOverheadLoops = 1u << 19;

}  // namespace

[[noreturn]] void fault() {
  mote::board::print("FAULT: the processor took an exception\n");
  mote::board::exit(99);
}

void systick() { fault(); }

[[noreturn]] void reset() {
#if __ARM_ARCH_ISA_THUMB >= 2
  reg(kCoprocessorAccess) = reg(kCoprocessorAccess) | kFullAccessToFpu;
#else  // Armv6-M has no coprocessors
  (void)kCoprocessorAccess, (void)kFullAccessToFpu;
#endif
#if defined(__ARM_FEATURE_MVE)
  reg(kConfigurationControl) = reg(kConfigurationControl) | kLowOverheadLoops;
#else
  (void)kConfigurationControl, (void)kLowOverheadLoops;
#endif
  asm volatile("dsb\n isb" ::: "memory");
  const uint32_t* from = &data_load;
  for (uint32_t* to = &data_begin; to < &data_end;) *to++ = *from++;
  for (uint32_t* to = &bss_begin; to < &bss_end;) *to++ = 0;
  mote::board::exit(board_main());
}

// Stack pointer, reset, then the exceptions a program can cause.
extern "C" [[gnu::section(".vectors"), gnu::used]] const uintptr_t vectors[16] = {reinterpret_cast<uintptr_t>(&stack_top),
                                                                                  reinterpret_cast<uintptr_t>(&reset),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  reinterpret_cast<uintptr_t>(&fault),
                                                                                  0,
                                                                                  0,
                                                                                  0,
                                                                                  0,
                                                                                  0,
                                                                                  0,
                                                                                  0,
                                                                                  reinterpret_cast<uintptr_t>(&systick)};
