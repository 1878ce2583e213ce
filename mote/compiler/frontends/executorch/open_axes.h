#pragma once

// Which axes of the inputs are open. A program says that a tensor's sizes are upper bounds, not which of them vary: what varies is found by
// importing the program with axes open, and looking whether its tensors vary where it says so. Private to this front end.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {

// Imports the program with these axes open; false when it cannot be imported so.
using Trial = std::function<bool(const OpenAxes&, ir::Graph& graph, torch::ExportedModel* model)>;

// The fewest axes that explain the tensors the program calls dynamic; also those that --dim and --shape name. Empty where every size is
// fixed, or nothing explains them: the sizes are the bounds then.
OpenAxes find_open_axes(const Program& program, const ImportOptions& options, const Trial& trial);

}  // namespace mote::frontends::executorch
