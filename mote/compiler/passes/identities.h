#pragma once

#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {

// Simplifies one node; true when it did. The pass `identities` tries each on every node.
bool simplify_arithmetic(Graph& graph, Node& n, const PassOptions& options);
bool simplify_casts(Graph& graph, Node& n);
bool simplify_moves(Graph& graph, Node& n);

}  // namespace mote::passes
