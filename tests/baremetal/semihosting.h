#pragma once

// The console, exit and counter of a QEMU board (Arm semihosting and SysTick).

#include <cstdint>

namespace mote::board {

void print(const char* text);
void print(uint64_t value);
[[noreturn]] void exit(int code);  // becomes QEMU's exit code

void start_counter();
// Instructions executed since start_counter(), in steps of one SysTick period; QEMU must run with `-icount shift=0`,
// which makes each instruction last one nanosecond. Wraps after half a second, so every measured part must be shorter.
uint64_t instructions();

}  // namespace mote::board
