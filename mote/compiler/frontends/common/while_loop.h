#pragma once

// Loops as TFLite and TOSA have them: one graph computes whether to go on, another one what is carried to the next trip.

#include <functional>
#include <string>
#include <vector>

#include "mote/compiler/ir/builder.h"

namespace mote::frontends {

// Imports a graph into a block; false when something in it was refused.
using ImportGraph = std::function<bool(ir::Block& block, const std::vector<ir::Value*>& arguments, std::vector<ir::Value*>* results)>;

// The condition is computed once before the loop and at the end of each trip. The loop's outputs are what it carries, `start` before the
// first trip. Null with *error.
ir::Node* add_while(ir::NodeBuilder& b, const std::vector<ir::Value*>& start, int64_t max_trips, const ImportGraph& condition,
                    const ImportGraph& trip, std::string* error);

// As a condition must be: a single element becomes a scalar.
ir::Value* as_scalar(ir::NodeBuilder& b, ir::Value* v);

}  // namespace mote::frontends
