#pragma once

#include <string>

#include "mote/compiler/driver/compile.h"

namespace mote::tools {

// Maps a model file. Throws Failure when it is missing, a folder or empty.
frontends::Source open_model(const std::string& path);

// Reads a folder of examples: one .npy per example for models with one input, or a folder for each with NAME.npy per input and, if
// the results are known, per output. In the order of their names. Throws Failure.
std::vector<driver::GivenExample> read_examples(const std::string& folder);

// Throws Failure when `path` cannot become a file: its folder is missing or not writable, or it is a folder itself.
// `model` must not be overwritten.
void check_output_path(const std::string& path, const std::string& model);

// Everything that stands in the way, as a table.
std::string problems_text(const std::string& model, const ir::Problems& problems);

}  // namespace mote::tools
