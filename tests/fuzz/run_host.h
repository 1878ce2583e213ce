#pragma once

#include <vector>

#include "tests/fuzz/pieces.h"
#include "tests/fuzz/run_untrusted.h"

namespace mote::fuzz {

// The backends of this build that take pieces: the reference, XNNPACK and OpenCL, where they are there.
const std::vector<PieceBackend>& piece_backends();

// What an application does with bytes it does not trust, through the C interface: opens them under a memory limit, with every backend of
// this build, and where that succeeds reads what the program says of itself and its golden data, and runs every method at its largest
// sizes, at others down to 0, and on the golden inputs, in buffers of exactly the right sizes. Counts what the library allocates: more than
// the limit is a broken promise.
UntrustedResult run_host(ConstBytes file, Dice& dice, uint32_t steps);

// Changes a program for it, or puts a fresh one in its place; returns its size, at most `most`.
size_t mutate_for_host(uint8_t* data, size_t size, size_t most, Dice& dice);

}  // namespace mote::fuzz
