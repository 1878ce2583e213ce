#pragma once

#include <vector>

#include "mote/format/reader.h"

namespace mote::tools {

// Groups of float instructions that lie between integer ones: numbers are turned into f32 for them and back afterwards. Indices of
// instructions, in the order of the program.
std::vector<std::vector<uint32_t>> float_islands(const ProgramTable& table);

// Instructions that compute with integers of 8 or 16 bits: conversions aside.
size_t count_integer_operators(const ProgramTable& table);

}  // namespace mote::tools
