#pragma once

#include <string>

#include "mote/compiler/emit/writer.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

struct ProgramShape {
  int max_ops = 8;
  int first_op = -1;  // index into known_ops() of an operator that must be there; -1: any
  int tries = 400;    // to find a case of an operator
};

// A random program over every operator of this build, with control flow, strips and rings, views, states, dynamic sizes, several banks
// and methods, delegates and golden data thrown in. False when this roll of the dice gave none; *error says why.
bool make_program(Dice& dice, const ProgramShape& shape, emit::FileBytes* out, std::string* error);

}  // namespace mote::fuzz
