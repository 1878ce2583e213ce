#pragma once

#include <string>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

// Checks everything that passes and front ends may rely on: links between values, producers and users; every value is defined before
// it is used, and blocks see the values around them; operators' arities and attribute sizes; types equal to what infer() says; sizes of
// constants and states; arguments and results of control nodes' blocks. False with *error, which names the node.
bool verify(const Graph& graph, std::string* error);

}  // namespace mote::ir
