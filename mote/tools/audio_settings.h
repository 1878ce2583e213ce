#pragma once

// --audio-frontend and --streaming of `mote compile`: programs that take samples in place of features.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "mote/compiler/ir/graph.h"

namespace mote::tools {

void add_audio_options(CLI::App* command, std::string* front_end, std::string* streaming);

// What the texts ask for, for driver::CompileOptions::attach; null for empty ones. Throws a Failure that says what was expected.
std::function<bool(ir::Graph&, std::string*)> audio_front_end(const std::string& front_end, const std::string& streaming);

}  // namespace mote::tools
