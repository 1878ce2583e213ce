#pragma once

#include "mote/core/span.h"
#include "tests/fuzz/dice.h"

namespace mote::fuzz {

// Changes a few fields of the records of a program table in place: tensors, instructions, operands, attributes, methods, steps, banks,
// segments and the rest. The size stays the same. When the result makes sense to the verifier but for its certificate, the certificate
// is made to fit, so that the program gets to run. True when the program now opens.
bool mutate_program(ByteSpan file, Dice& dice);

}  // namespace mote::fuzz
