#pragma once

// A pass changes a graph and keeps its meaning. One file each, one line in passes.def, which is also the order they run in.

#include <cstdint>
#include <functional>
#include <memory>
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
  int64_t* fold_budget = nullptr;               // elements that folding may still compute; PassRun sets it
};

// The first word of a line of passes.def. optimize: folds, simplifies, recognises and fuses operators of the model's own types.
// legalize: makes integer operators of quantized patterns, and weights as kernels read them.
enum class Phase : uint8_t { optimize, legalize };

// The phases over one graph; between them others may change it. All share one budget for folding and one table of times.
class PassRun {
 public:
  // The graph is borrowed.
  PassRun(ir::Graph& graph, const PassOptions& options);
  ~PassRun();

  // False with *error when a pass broke the graph (a defect) or failed.
  bool run(Phase phase, std::string* error);
  // Verifies the graph as after a pass; `after`: what changed it.
  bool verify(const char* after, std::string* error);
  // Hands the times of all passes to PassOptions::log.
  void print_times() const;

 private:
  struct Times;
  bool run_group(size_t begin, size_t end, std::string* error);
  void print_after(const char* pass) const;

  ir::Graph& graph_;
  PassOptions options_;
  int64_t fold_budget_;
  std::unique_ptr<Times> times_;
};

// Runs both phases, to a fixed point where passes feed each other. False with *error when a pass broke the graph (a defect) or failed.
bool run_passes(ir::Graph& graph, const PassOptions& options, std::string* error);

// Runs one pass by its name; true when it changed the graph. For tests, and emitters that want a few.
bool run_pass(const std::string& name, ir::Graph& graph, const PassOptions& options = {});

// Names in order, for --help.
std::vector<std::string> pass_names();

}  // namespace mote::passes
