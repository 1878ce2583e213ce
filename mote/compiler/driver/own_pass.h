#pragma once

#include <functional>
#include <string>

#include "mote/compiler/driver/context.h"

namespace mote::driver {

// Runs a change of the graph that is none of Mote's passes (null: nothing) and verifies what it leaves. `name`: for its problem.
bool run_own_pass(Context& context, const std::function<bool(ir::Graph&, std::string*)>& pass, const char* name, ir::Graph& graph);

}  // namespace mote::driver
