#include "mote/compiler/driver/own_pass.h"

#include "mote/compiler/ir/verify.h"

namespace mote::driver {

bool run_own_pass(Context& c, const std::function<bool(ir::Graph&, std::string*)>& pass, const char* name, ir::Graph& graph) {
  std::string error;
  if (!pass) return true;
  if (!pass(graph, &error)) return c.fail(name, error);
  graph.drop_unused_values();
  return ir::verify(graph, &error) || c.fail(name, "it leaves a broken graph: " + error);
}

}  // namespace mote::driver
