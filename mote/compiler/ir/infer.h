#pragma once

// Types and facts of values, from the operators' own infer() and, for small integer values, from running their portable kernels.
// Shapes are computed for every sample of the graph's symbols: the bound of a size is the largest seen, and it is dynamic when
// samples differ. So shape arithmetic that exporters leave behind needs no rules of its own.

#include <string>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

// Sets types and facts of a node's outputs. False with *error when the operator refuses its operands ("expected ..., found ...") or a
// size depends on data and nothing bounds it. For kIf and kLoop the blocks are complete already.
bool infer(Node& node, std::string* error);

// What an operator (no control node) says of its outputs in one sample, from its operands' facts in that sample. Changes nothing.
bool facts_of(const Node& node, size_t sample, std::vector<Facts>* out, std::string* error);

// Infers every node again, blocks included, in order. Stops at the first error, which names the node.
bool infer_all(Graph& graph, std::string* error);

// Runs an operator of static shape whose inputs are all constant or known: one Bytes for each output. False when it cannot.
bool evaluate(const Node& node, std::vector<Bytes>* out);

// The elements of a value that is constant or has the same known elements in every sample; null when not.
const Bytes* known_data(const Value& value);
// The same for s32, s64, bool and other integers, as 64-bit numbers. False when unknown.
bool known_ints(const Value& value, std::vector<int64_t>* out);
// For float types, as double. False when unknown.
bool known_floats(const Value& value, std::vector<double>* out);

}  // namespace mote::ir
