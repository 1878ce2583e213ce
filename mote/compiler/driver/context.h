#pragma once

// What every stage of a compilation needs: the request, where results and problems go, the clock of the stages.

#include <chrono>
#include <functional>
#include <string>

#include "mote/compiler/driver/compile.h"

namespace mote::driver {

class Context {
 public:
  // All are borrowed.
  Context(const frontends::Source& model, const CompileOptions& how, CompileResult* result, ir::Problems* found)
      : source(model), options(how), out(*result), problems(*found) {}

  const frontends::Source& source;
  const CompileOptions& options;
  CompileResult& out;
  ir::Problems& problems;

  const OpRegistry& ops() const;
  bool wants_placement() const { return !options.backends.empty() || !options.policy.text.empty(); }
  bool wants_examples() const { return options.golden.count > 0 || !options.golden.given.empty(); }

  // Ends the stage before. `fraction`: how much of the compilation is done.
  void begin_stage(const std::string& name, double fraction);
  void end_stage();
  void print_stage_times();
  // For work within a stage: hears which part of it is done, from 0 to 1, and reports fractions from `from` to `to`.
  std::function<void(double)> part_of_stage(const char* name, double from, double to) const;

  // Adds a problem; false, for the stage to return.
  bool fail(const std::string& where, const std::string& what, const std::string& advice = "");

  // --print-after `level`.
  bool prints(const char* level) const;
  void log(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string stage_;
  Clock::time_point begin_;
};

// The last component of a path.
std::string file_part(const std::string& path);

}  // namespace mote::driver
