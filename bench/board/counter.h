#pragma once

#include <cstdint>

namespace mote::board {

// Instructions since start_counter(), one by one, when QEMU runs with `-icount shift=6` (an instruction lasts 64 ns, more than a tick of
// the boards' clocks). The few of the interrupt that counts wraps, once in 10 million, are counted too.
uint64_t exact_instructions();

}  // namespace mote::board
