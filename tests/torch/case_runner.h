#pragma once

// Compiles and runs models for scripts, many in one process. Each line of the standard input names a folder with a model and in_0.npy,
// in_1.npy, ...; out_0.npy, ... are written there. Each answer is one line: "ok N" (outputs), or "compile TEXT" or "run TEXT", what stands
// in the way. With --no-optimize the model is compiled as it is.

#include <functional>
#include <string>

#include "mote/compiler/frontends/frontend.h"

namespace mote::tests {

// The model in a folder; false with *error.
using OpenCase = std::function<bool(const std::string& folder, frontends::Source* source, std::string* error)>;

int run_cases(int argc, char** argv, const OpenCase& open);

}  // namespace mote::tests
