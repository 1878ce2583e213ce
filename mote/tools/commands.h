#pragma once

// One function per subcommand: adds it, with its options and its work, to the command line.

#include <CLI/CLI.hpp>

namespace mote::tools {

// What main() must know of the chosen command.
struct Context {
  bool json = false;  // failures too
  int exit_code = 0;  // of work that was done and reported, but did not go well
};

void add_compile(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_measure(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_selftest(CLI::App& app, Context& context);
void add_ops(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_package(CLI::App& app, Context& context);
void add_fleet(CLI::App& app, Context& context);
void add_repo(CLI::App& app, Context& context);
void add_completion(CLI::App& app);

}  // namespace mote::tools
