#pragma once

// What to type when a size depends on data or is open: with names and numbers of the model at hand.

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::frontends {

// Inputs of the graph that a value is computed from, in the order of the graph; integers first decide sizes: where any operand is
// computed from integers, only those count.
std::vector<const ir::Value*> inputs_behind(const std::vector<ir::Value*>& operands);

// For an error of ir::infer that says "dimension 0 ... nothing bounds it": which input decides, and a --dim word for each axis it names.
// `value`: the name that --dim takes.
std::string bound_advice(const std::string& error, const std::string& value, const std::vector<ir::Value*>& operands,
                         const ir::Graph& graph);

// The inputs of all methods.
std::vector<const ir::Value*> inputs_of(const ir::Graph& graph);

// A size that is likely to be enough for what comes of these inputs: a power of two, at least the largest of their sizes.
int32_t likely_bound(const std::vector<const ir::Value*>& inputs);

// " --dim x.1=128": the open sizes behind a value fixed at their largest. Empty where no size of an input is open.
std::string fixed_words(const ir::Value& value, const ir::Graph& graph);

}  // namespace mote::frontends
