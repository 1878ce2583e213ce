#pragma once

// What the user should know of a model that could be imported all the same. Kept in the graph's evidence, and so in the program.

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::frontends {

void add_note(ir::Graph& graph, const std::string& text);
std::vector<std::string> notes_of(const ir::Graph& graph);

}  // namespace mote::frontends
