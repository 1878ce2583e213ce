#pragma once

// What the commands that run a program have in common (run, bench, profile, selftest): one spelling and one help text for each option.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "mote/tools/session.h"

namespace mote::tools {

struct ProgramOptions : OpenSettings {
  std::string file, method;
  std::vector<std::string> inputs;
  bool json = false;
};

constexpr char kWeightsHelp[] = "file with the program's external weights";

// FILE, --threads, --kernels, --backend, --weights, --memory-limit, --json. `options` lives as long as the command.
void add_program_options(CLI::App* command, ProgramOptions* options);

// --input and --method, of commands that run one method. `otherwise`: what inputs that are not given are, such as " (default: made up)".
void add_input_options(CLI::App* command, ProgramOptions* options, const char* otherwise);

}  // namespace mote::tools
