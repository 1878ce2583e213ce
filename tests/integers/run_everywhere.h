#pragma once

#include <string>

#include "mote/core/span.h"
#include "tests/fuzz/dice.h"

namespace mote::integers {

struct Everywhere {
  int runs = 0;            // of the program, the portable one included
  std::string difference;  // which run differs from the portable one and where; empty: none does
};

// Runs the first method of a program on random inputs: portable kernels, then those of every instruction set that this machine and build
// have, on 1, 2 and 4 threads. False with *error when the program does not open or run at all.
bool run_everywhere(ConstBytes program, fuzz::Dice& dice, Everywhere* out, std::string* error);

}  // namespace mote::integers
