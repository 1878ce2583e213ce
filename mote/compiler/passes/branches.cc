// Control flow that is known: an `if` whose condition is constant becomes the branch it takes.

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/rewrite.h"

namespace mote::passes {
namespace {

bool take_branch(Graph& graph, Node& n) {
  std::vector<int64_t> condition;
  if (n.op != ir::kIf || !n.inputs[0]->is_constant() || !ir::known_ints(*n.inputs[0], &condition) || condition.size() != 1) return false;
  Block& taken = *n.blocks[condition[0] != 0 ? 0 : 1];
  // What a branch gives may be smaller than what the node said of both; users are told below.
  for (size_t o = 0; o < n.outputs.size(); ++o)
    if (taken.results[o]->kind == ir::ValueKind::kState) return false;
  Block& around = *n.block;
  while (!taken.nodes.empty()) {
    Node* moved = taken.nodes.front().get();
    around.nodes.splice(n.place, taken.nodes, moved->place);
    moved->block = &around;
  }
  for (size_t o = 0; o < n.outputs.size(); ++o)
    if (n.outputs[o] != nullptr) graph.replace_uses(n.outputs[o], taken.results[o]);
  graph.erase(&n);
  return true;
}

}  // namespace

bool branches(Graph& graph, const PassOptions&) {
  const bool changed = each_node(graph, [&](Node& n) { return take_branch(graph, n); });
  return changed && (refresh_types(graph), true);
}

}  // namespace mote::passes
