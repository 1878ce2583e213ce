#pragma once

#include "mote/compiler/emit/writer.h"

namespace mote::emit {

// Counts the multiply-adds and the operand bytes of every instruction once, into the certificate. What stands there already
// (a compiler may know better, with loops and strips) is kept.
void state_costs(ProgramRecords& records);

}  // namespace mote::emit
