#pragma once

// The program level as text, one line for each record:
//   tensor 5 f32 1,56,56,64 arena 0 @128 strides 802816,14336,256,4
//   conv 0 3 _ -> 5 {strides=[2, 2, 1]} "/features/0/Conv"
// Parsing gives the records back; those that this compiler wrote come back exactly, others with the same meaning (attributes and
// operands are laid out anew, in order).

#include <string>

#include "mote/compiler/program/records.h"

namespace mote::program {

// `bytes`: segments in full; otherwise only size and digest, and the text cannot be parsed.
std::string print(const ProgramRecords& records, bool bytes = true);

// False with *error, which has the line.
bool parse(const std::string& text, ProgramRecords* out, std::string* error);

}  // namespace mote::program
