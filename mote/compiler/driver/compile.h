#pragma once

// The whole way from a model file to the bytes of a program: front end, passes, plan, emit.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/driver/golden.h"
#include "mote/compiler/emit/writer.h"
#include "mote/compiler/frontends/frontend.h"
#include "mote/compiler/passes/pass.h"
#include "mote/compiler/placement/place.h"
#include "mote/compiler/schedule/schedule.h"
#include "mote/kernels/select.h"

namespace mote::driver {

struct CompileOptions {
  frontends::ImportOptions import;
  passes::PassOptions passes;
  schedule::PlanOptions plan;
  target::Target target = *target::named("generic");  // what decides between ways to compute the same; in place of those in passes and plan
  std::string target_name = "generic";                // for the evidence
  emit::WriteOptions write;
  bool external_weights = false;
  GoldenOptions golden;
  kernels::SelectFn select = nullptr;  // fast kernels of this machine: large models are checked with them, or not at all
  bool strip_names = false;
  // Every named intermediate value becomes an output of its method, after the passes: for finding where two ways of computing part.
  bool expose_values = false;
  // The user's own passes: before Mote's (in the unoptimised reference too) and behind them. The graph is verified afterwards. False with
  // *error stops compiling.
  std::function<bool(ir::Graph&graph, std::string*error)> after_import, after_passes;
  // What stands between the model's inputs and the program's, such as a front end for sound; in the unoptimised reference too.
  std::function<bool(ir::Graph& graph, std::string* error)> attach;
  std::vector<const mote_backend_compiler*> backends;                   // that parts of the model may be placed on, besides the CPU
  placement::Policy policy;                                             // what placement must keep to
  std::string producer = "mote";                                        // who compiles, with version: for the evidence
  std::string options_text;                                             // how the user asked for it: likewise
  std::vector<std::pair<std::string, std::string>> metadata, evidence;  // in place of what the model says under the same key
  std::function<void(const std::string& stage, double fraction)> progress;
};

struct CompileResult {
  emit::FileBytes file;
  std::vector<uint8_t> external;                   // with external_weights
  std::string log;                                 // --print-after, --time-passes
  std::string frontend;                            // "onnx"
  uint64_t peak_bytes = 0, lower_bound_bytes = 0;  // of the plan
  // With CompileOptions::plan.in_order: the program as planned, for emit_cpp. `file` has the same steps without outputs on their inputs.
  emit::ProgramRecords emitted;
  uint64_t apart_bytes = 0;  // what that takes
  std::vector<std::pair<std::string, double>> stage_seconds;
  placement::Placed placement;          // with CompileOptions::backends or a policy
  std::vector<std::string> slow_paths;  // operators that no fast kernel serves on the most able machine of this kind, a line each
  std::vector<std::string> portable;    // for microcontrollers: names of all such operators, small ones too
  std::vector<std::string> notes;       // what the user should know, such as examples that could not be made
};

// False with everything that stands in the way in *problems.
bool compile(const frontends::Source& source, const CompileOptions& options, CompileResult* out, ir::Problems* problems);

// Inputs and outputs alone.
bool read_signature(const frontends::Source& source, const frontends::ImportOptions& options, Signature* out, ir::Problems* problems);
// Those of the program: with what is attached.
bool read_signature(const frontends::Source& source, const CompileOptions& options, Signature* out, ir::Problems* problems);

// The same model with nothing optimised and nothing but the program: what it means, to compare others with.
CompileOptions reference_options(const CompileOptions& options);

}  // namespace mote::driver
