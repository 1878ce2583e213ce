#pragma once

#include <string>

#include "mote/compiler/emit/writer.h"
#include "tests/fuzz/dice.h"

namespace mote::integers {

// A random program of quantized operators on small images, with one input. False when this roll of the dice gave none; *error says why.
bool make_program(fuzz::Dice& dice, emit::FileBytes* out, std::string* error);

}  // namespace mote::integers
