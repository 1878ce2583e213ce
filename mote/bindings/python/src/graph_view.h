#pragma once

// The compiler's graph as a user's own pass sees it: handles that end with the pass, and changes that leave the graph whole.

#include "mote/bindings/python/src/failure.h"
#include "mote/compiler/ir/graph.h"

namespace mote::python {

// Calls `pass` with a mote._mote.Graph of this graph. Throws what it raises. Afterwards its handles raise mote.Error.
void run_pass(nb::handle pass, ir::Graph& graph);

// Binds mote._mote.Graph, Node and Value.
void bind_graph(nb::module_& m);

}  // namespace mote::python
