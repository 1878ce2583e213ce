#pragma once

// From a model file to the bytes of a program. The stages are those of stages.h, called one after the other by compile.cc.

#include <functional>
#include <memory>
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
  kernels::SelectFn select = nullptr;  // fast kernels of this machine: compared with the portable ones; large models run with them
  // With plan.in_order: memory that emitted kernels need besides the plan, of the records it becomes. Where plan and this exceed
  // plan.strip_ram, the plan is made again for what remains.
  std::function<uint64_t(const program::ProgramRecords&)> scratch_bytes;
  bool strip_names = false;
  // 8-bit inputs and outputs for a quantized model that has float ones (narrow_io.h).
  bool io_int8 = false;
  bool suggest_sizes = true;  // where sizes are open, find some that compile, for the problem's advice
  // Every named intermediate value becomes an output of its method, after the passes: for finding where two programs begin to differ.
  bool expose_values = false;
  // The quantizer (compiler/quant): called once, between the two phases of the passes (passes/pass.h), on a graph whose operators are
  // fused and still of floats. It writes quantize and dequantize nodes, of which the second phase makes integer operators. False with
  // *error stops compiling.
  std::function<bool(ir::Graph& graph, std::string* error)> quantize;
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
  placement::Placed placement;               // with CompileOptions::backends or a policy
  std::vector<std::string> slow_paths;       // operators that no fast kernel serves on the most able machine of this kind, a line each
  std::vector<std::string> portable;         // for microcontrollers: names of all such operators, small ones too
  std::vector<ir::SourceNode> source_nodes;  // of the model's file, what was refused included; also where compiling fails
  std::vector<ir::MissingOp> missing_ops;    // with ImportOptions::partial: what became custom operators
  std::vector<Comparison> compared;          // every output of every example
  bool compared_fast = false;                // both ran with fast kernels, not the portable ones
  std::vector<std::string> notes;            // what the user should know, such as examples that could not be made
};

// False with everything that stands in the way in *problems.
bool compile(const frontends::Source& source, const CompileOptions& options, CompileResult* out, ir::Problems* problems);

// Inputs and outputs alone.
bool read_signature(const frontends::Source& source, const frontends::ImportOptions& options, Signature* out, ir::Problems* problems);
// Those of the program: with what is attached.
bool read_signature(const frontends::Source& source, const CompileOptions& options, Signature* out, ir::Problems* problems);

// The first stage alone, with ImportOptions::partial: which operators are supported, and which can be left to the user to fill in. False
// where some can be neither; *nodes is filled all the same.
bool read_missing(const frontends::Source& source, const CompileOptions& options, std::vector<ir::SourceNode>* nodes,
                  std::vector<ir::MissingOp>* missing, ir::Problems* problems);

// The first stages alone: the graph as the planner would get it without placement. Results other than the graph are dropped.
bool optimized_graph(const frontends::Source& source, const CompileOptions& options, std::unique_ptr<ir::Graph>* out,
                     ir::Problems* problems);

// The same model with nothing optimised and nothing but the program: what it means, to compare others with.
CompileOptions reference_options(const CompileOptions& options);

}  // namespace mote::driver
