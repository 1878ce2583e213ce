#pragma once

// A pass changes a graph and keeps its meaning. One file each, one line in passes.def, which is also the order they run in.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/target/target.h"

namespace mote::passes {

struct PassOptions {
  bool fuse = true;                        // --no-fuse: keep one node for each operator of the model
  bool optimize = true;                    // --no-optimize: only what is needed to run at all
  bool exact = false;                      // --exact: nothing that changes rounding (batch-norm folding, reassociation)
  bool pack = true;                        // constants into panels
  bool winograd = true;                    // 3x3 convolutions by Winograd where that is faster; never with --exact
  const target::Target* target = nullptr;  // decides what is faster; null: the generic one
  std::set<std::string> print_after;       // pass names, or "all"
  bool time_passes = false;
  bool verify = true;                           // verify_graph after each pass
  std::function<void(const std::string&)> log;  // receives what is printed
  // Called once, between fusing and the quantized forms: where the quantizer (compiler/quant) works. False with *error stops.
  std::function<bool(ir::Graph& graph, std::string* error)> quantize;
  int64_t* fold_budget = nullptr;  // elements that folding may still compute; run_passes sets it
};

// Runs all passes, to a fixed point where they feed each other. False with *error when a pass broke the graph (a defect) or failed.
bool run_passes(ir::Graph& graph, const PassOptions& options, std::string* error);

// Runs one pass by its name; true when it changed the graph. For tests.
bool run_pass(const std::string& name, ir::Graph& graph, const PassOptions& options = {});

// Names in order, for --help.
std::vector<std::string> pass_names();

}  // namespace mote::passes
