#pragma once

// `mote compile --emit tosa`: from a model to a TOSA 1.0 FlatBuffer, without a program in between.

#include <vector>

#include "mote/compiler/driver/compile.h"

namespace mote::tools {

// Reads the model, runs the passes that keep plain operators, writes. False with everything that stands in the way in *problems.
// *rounding: nodes that TOSA's integers round otherwise in places.
bool model_to_tosa(const frontends::Source& source, const driver::CompileOptions& options, std::vector<uint8_t>* out,
                   ir::Problems* problems, std::vector<std::string>* rounding);

}  // namespace mote::tools
