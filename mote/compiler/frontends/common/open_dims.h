#pragma once

// Sizes of inputs that neither the model nor --shape and --dim give: a batch alone is 1, everything else is the user's to say.

#include <string>
#include <vector>

#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends {

// One axis of one input. Axes of the same name have the same size.
struct OpenDim {
  std::string name;   // as --dim takes it: the model's name, or INPUT.AXIS where it has none
  std::string input;  // whose axis it is
  int axis = 0;
  ir::Dims dims;      // of the input, -1 where open
  int32_t least = 1;  // the smallest size the model states

  bool is_named() const { return name != input + "." + std::to_string(axis); }
};

// What a size most likely counts, by its name and place.
enum class DimRole { kBatch, kSequence, kImage, kOther };
DimRole role_of(const std::string& name, const std::vector<OpenDim>& open);

// Where nothing but batches is open: gives each of them its least size in *options, notes that in the graph's evidence, and returns true.
bool assume_batch(const std::vector<OpenDim>& open, ImportOptions* options, ir::Graph& graph);
// The graph's evidence says that `dim` has this size because nobody gave another.
void note_assumed(const OpenDim& dim, int32_t size, ir::Graph& graph);
// What the user should know of that; nothing where nothing was assumed.
std::vector<std::string> assumed_notes(const ir::Graph& graph);

// One problem with input and axis of each. The dimensions stay readable from the graph, for open_dims().
void report_open(const std::vector<OpenDim>& open, ir::Graph& graph, ir::Problems* problems);
// What report_open() was told about this graph.
std::vector<OpenDim> open_dims(const ir::Graph& graph);

// What is wrong with a --shape or --dim whose name the model does not have.
ir::Problem no_such_input(const std::string& name, const std::vector<std::string>& inputs);
ir::Problem no_such_dim(const std::string& name, const std::vector<std::string>& open_dims);

// " --dim seq=1..128", as a shell takes it.
std::string dim_word(const std::string& name, DimRange range);
// For every role, what to propose first, second and so on.
constexpr size_t kProposals = 8;
DimRange proposal(DimRole role, size_t attempt, int32_t least);
// Each name once, in order.
std::vector<std::string> names_of(const std::vector<OpenDim>& open);

}  // namespace mote::frontends
