#include "mote/tools/program_options.h"

#include "mote/tools/input_option.h"

namespace mote::tools {

void add_program_options(CLI::App* command, ProgramOptions* options) {
  command->add_option("FILE", options->file, "program (.mote)")->required();
  command->add_option("--threads", options->threads, "threads that share the work (default 1)")->check(CLI::PositiveNumber);
  command->add_option("--kernels", options->kernels, "instruction set of the kernels (default: the best of this machine)");
  command
      ->add_option("--backend", options->backends,
                   "backends the program may use besides the CPU (default: all of this build); once for each")
      ->allow_extra_args(false);
  command->add_option("--weights", options->weights, kWeightsHelp);
  command->add_option("--memory-limit", options->memory_limit, "most memory for the program, e.g. 64MB: for files from an unknown source")
      ->transform(CLI::AsSizeValue(false));
  command->add_flag("--json", options->json, "print JSON (docs/json.md)");
}

void add_input_options(CLI::App* command, ProgramOptions* options, const char* otherwise) {
  command->add_option("--input,-i", options->inputs, std::string(kInputHelp) + otherwise)->allow_extra_args(false);
  command->add_option("--method", options->method, "method to run (default: the first)");
}

}  // namespace mote::tools
