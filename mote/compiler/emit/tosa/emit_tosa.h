#pragma once

// `mote compile --emit tosa`: a graph of plain operators as a TOSA 1.0 FlatBuffer. Host code.

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/ir/problem.h"

namespace mote::emit {

// `graph`: one method, fixed sizes, after the passes that keep plain operators. False with everything that cannot be written in *problems.
// *rounding, if given: the nodes that TOSA's integers round otherwise than Mote in places, each by one step of its output.
bool emit_tosa(const ir::Graph& graph, std::vector<uint8_t>* out, ir::Problems* problems, std::vector<std::string>* rounding = nullptr);

}  // namespace mote::emit
