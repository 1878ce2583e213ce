#pragma once

#include <vector>

#include "tests/fuzz/dice.h"

namespace mote::fuzz {

// The bytes of a program: one of a few whose operators never fail (*own), a random one, or one with bytes changed or cut off.
std::vector<uint8_t> any_program_file(Dice& dice, bool* own);

}  // namespace mote::fuzz
