#pragma once

// "did you mean" for what stands on the command line.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "mote/compiler/ir/nearest.h"

namespace mote::tools {

using ir::did_you_mean;
using ir::listed;
using ir::nearest;

// What the command line says of a usage error: CLI11's text with a suggestion, and numbers as people write them.
std::string usage_text(const CLI::App* app, const CLI::Error& error);

// The word that stands where a subcommand is expected and is none; empty when there is no such word.
std::string unknown_subcommand(const CLI::App& app, int argc, const char* const* argv);

}  // namespace mote::tools
