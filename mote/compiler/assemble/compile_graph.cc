#include "mote/compiler/assemble/compile_graph.h"

namespace mote::assemble {

bool compile_graph(const ir::Graph& graph, const GraphCompileOptions& options, program::FileBytes* out, std::string* error) {
  schedule::Plan plan;
  program::ProgramRecords records;
  const OpRegistry& ops = options.plan.ops != nullptr ? *options.plan.ops : program::builtin_registry();
  return schedule::make_plan(graph, options.plan, &plan, error) && lower(plan, options.lower, &records, error) &&
         emit::write_program(records, options.write, ops, out, error);
}

bool compile_graph(const ir::Graph& graph, program::FileBytes* out, std::string* error) {
  return compile_graph(graph, GraphCompileOptions{}, out, error);
}

}  // namespace mote::assemble
