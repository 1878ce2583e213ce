// Dead code: nodes whose outputs nobody uses, outputs of control nodes nobody uses, optional outputs nobody uses.

#include <algorithm>

#include "mote/compiler/passes/rewrite.h"
#include "mote/ops/op_docs.h"

namespace mote::passes {
namespace {

bool assigns(const Node& n) {
  if (n.op == ir::kAssign) return true;
  for (const auto& b : n.blocks)
    for (const auto& inner : b->nodes)
      if (assigns(*inner)) return true;
  return false;
}

// Outputs of `if` that nobody uses go, with the branches' results.
bool trim_branches(Graph& graph, Node& n) {
  bool changed = false;
  for (size_t o = n.outputs.size(); o-- > 0;) {
    if (n.outputs[o] != nullptr && !n.outputs[o]->unused()) continue;
    for (const auto& b : n.blocks) {
      graph.set_result(*b, o, nullptr);
      b->results.erase(b->results.begin() + static_cast<std::ptrdiff_t>(o));
    }
    if (n.outputs[o] != nullptr) n.outputs[o]->producer = nullptr;
    n.outputs.erase(n.outputs.begin() + static_cast<std::ptrdiff_t>(o));
    changed = true;
  }
  return changed;
}

// Scanned outputs of a loop that nobody uses go; and carried values that only carry themselves.
bool trim_loop(Graph& graph, Node& n) {
  Block& body = *n.blocks[0];
  bool changed = false;
  const auto drop_output = [&](size_t o) {
    graph.set_result(body, o + 1, nullptr);
    body.results.erase(body.results.begin() + static_cast<std::ptrdiff_t>(o + 1));
    if (n.outputs[o] != nullptr) n.outputs[o]->producer = nullptr;
    n.outputs.erase(n.outputs.begin() + static_cast<std::ptrdiff_t>(o));
    changed = true;
  };
  const size_t carried = n.inputs.size() - 2;
  for (size_t o = n.outputs.size(); o-- > carried;)
    if (n.outputs[o] == nullptr || n.outputs[o]->unused()) drop_output(o);
  for (size_t o = carried; o-- > 0;) {
    Value* argument = body.arguments[o + 2];
    if (n.outputs[o] != nullptr && !n.outputs[o]->unused()) continue;
    const int own = body.results[o + 1] == argument ? 1 : 0;
    if (!argument->users.empty() || argument->result_uses != own) continue;
    drop_output(o);
    graph.set_input(&n, o + 2, nullptr);
    n.inputs.erase(n.inputs.begin() + static_cast<std::ptrdiff_t>(o + 2));
    body.arguments.erase(body.arguments.begin() + static_cast<std::ptrdiff_t>(o + 2));
    argument->kind = ir::ValueKind::kResult;  // swept as an unused result
    argument->block = nullptr;
  }
  return changed;
}

// Optional outputs that nobody uses are not computed.
bool trim_outputs(Node& n) {
  const OpDoc* doc = n.is_operator() ? find_op_doc(n.op) : nullptr;
  if (doc == nullptr || doc->info.optional_out_ == 0) return false;
  bool changed = false;
  for (size_t o = 0; o < n.outputs.size(); ++o) {
    Value* v = n.outputs[o];
    if (v == nullptr || !v->unused() || (doc->info.optional_out_ & operand_bit(static_cast<uint32_t>(o))) == 0) continue;
    v->producer = nullptr;
    n.outputs[o] = nullptr;
    changed = true;
  }
  // Split counts its parts by its outputs.
  while (!n.is(OpId::split) && n.outputs.size() > doc->info.min_out_ && n.outputs.back() == nullptr) n.outputs.pop_back();
  return changed;
}

bool sweep(Graph& graph, Block& block) {
  bool changed = false;
  // Backwards: users go before what they use.
  for (auto it = block.nodes.end(); it != block.nodes.begin();) {
    Node& n = **--it;
    const bool idle = std::all_of(n.outputs.begin(), n.outputs.end(), [](const Value* v) { return v == nullptr || v->unused(); });
    if (idle && !assigns(n)) {
      ++it;
      graph.erase(&n);
      changed = true;
      continue;
    }
    if (n.op == ir::kIf) changed |= trim_branches(graph, n);
    if (n.op == ir::kLoop) changed |= trim_loop(graph, n);
    changed |= trim_outputs(n);
    for (const auto& b : n.blocks) changed |= sweep(graph, *b);
  }
  return changed;
}

}  // namespace

bool dce(Graph& graph, const PassOptions&) {
  bool changed = false;
  for (ir::Method& m : graph.methods) changed |= sweep(graph, *m.block);
  return changed;
}

}  // namespace mote::passes
