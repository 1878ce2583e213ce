#pragma once

#include <set>
#include <string>

#include "mote/compiler/quant/probe.h"

namespace mote::quant {

// Names of nodes to leave in float must be those of operators that quantizing would change; a misspelt one would be quantized in silence.
// False with a problem for each other name, which says what was meant.
bool check_in_float(const std::set<std::string>& names, const frontends::Source& source, const driver::CompileOptions& compile,
                    ir::Problems* problems);

}  // namespace mote::quant
