#pragma once

#include "mote/runtime/op_registry.h"

namespace mote::program {

// Mote's own operators, without custom ones.
const OpRegistry& builtin_registry();

}  // namespace mote::program
