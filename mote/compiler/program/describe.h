#pragma once

#include <string>

#include "mote/format/reader.h"

namespace mote::program {

// A Diagnostic as a sentence, with the operator's and tensor's names where the program has them.
std::string describe(const Diagnostic& diagnostic);

}  // namespace mote::program
