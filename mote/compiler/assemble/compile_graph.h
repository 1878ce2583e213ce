#pragma once

// From a graph to the bytes of a program file in one call: plan, assemble, write. For graphs that need no front end, passes or examples:
// the parts that placement hands to a backend, and tests.

#include "mote/compiler/assemble/lower.h"
#include "mote/compiler/emit/writer.h"
#include "mote/compiler/schedule/schedule.h"

namespace mote::assemble {

struct GraphCompileOptions {
  schedule::PlanOptions plan;
  LowerOptions lower;
  emit::WriteOptions write;
};
bool compile_graph(const ir::Graph& graph, const GraphCompileOptions& options, program::FileBytes* out, std::string* error);
bool compile_graph(const ir::Graph& graph, program::FileBytes* out, std::string* error);

}  // namespace mote::assemble
