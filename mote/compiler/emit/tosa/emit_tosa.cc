#include "mote/compiler/emit/tosa/emit_tosa.h"

#include <set>

#include "mote/compiler/emit/tosa/match.h"
#include "mote/compiler/ir/text.h"

namespace mote::emit {
namespace {

using tosa::Node;
using tosa::Value;

// The nodes that something written reads, in order. A group that is one operator in TOSA hides what lies inside.
std::vector<const Node*> needed_nodes(const ir::Block& block) {
  std::set<const Value*> wanted(block.results.begin(), block.results.end());
  std::vector<const Node*> all;
  for (auto at = block.nodes.rbegin(); at != block.nodes.rend(); ++at) {
    const Node& n = **at;
    const bool control = !n.is_operator();
    if (!control && std::none_of(n.outputs.begin(), n.outputs.end(), [&](const Value* v) { return wanted.count(v) != 0; })) continue;
    all.push_back(&n);
    const std::vector<const Value*> matched = control ? std::vector<const Value*>{} : tosa::matched_operands(n);
    if (matched.empty()) wanted.insert(n.inputs.begin(), n.inputs.end());
    else wanted.insert(matched.begin(), matched.end());
  }
  return {all.rbegin(), all.rend()};
}

std::string name_of(const Node& n) {
  if (n.op == ir::kIf) return "if";
  if (n.op == ir::kLoop) return "loop";
  if (n.op == ir::kAssign) return "assign";
  if (!n.is_operator()) return "custom";
  return ir::op_name(n.op);
}

// What depends on a refused node is judged too, where its type has a place in TOSA.
void stand_in(tosa::Writer& w, const Node& n, std::set<const Value*>* refused) {
  for (const Value* v : n.outputs) {
    const tosa::fb::DType type = v == nullptr ? tosa::fb::DType::UNKNOWN : tosa::type_of(v->type.dtype);
    if (type == tosa::fb::DType::UNKNOWN || type == tosa::fb::DType::INT48) refused->insert(v);
    else w.bind(v, {"refused", type, v->type.dims});
  }
}

bool is_static(const ir::Graph& graph, ir::Problems* problems) {
  if (graph.methods.size() != 1) problems->push_back({"model", "expected one method, found " + std::to_string(graph.methods.size()), ""});
  if (!graph.states().empty())
    problems->push_back({"model", "states have no form in the profiles of TOSA", "compile to a program instead"});
  for (const ir::Symbol& s : graph.symbols)
    problems->push_back({"size " + s.name, "TOSA has fixed sizes", "--dim " + s.name + "=" + std::to_string(s.max)});
  return problems->empty();
}

}  // namespace

bool emit_tosa(const ir::Graph& graph, std::vector<uint8_t>* out, ir::Problems* problems) {
  if (!is_static(graph, problems)) return false;
  const ir::Method& m = graph.methods[0];
  tosa::Writer w;
  const auto report = [&](const std::string& where, const std::string& advice) {
    const std::string what = w.take_error();
    if (!what.empty()) problems->push_back({where, what, advice});
    return what.empty();
  };
  for (size_t i = 0; i < m.block->arguments.size(); ++i) {
    w.input(m.block->arguments[i], m.input_names[i]);
    report("input " + m.input_names[i], "");
  }
  std::set<const Value*> refused;
  for (const Node* n : needed_nodes(*m.block)) {
    const std::vector<const Value*> matched = n->is_operator() ? tosa::matched_operands(*n) : std::vector<const Value*>{};
    const auto bad = [&](const Value* v) { return refused.count(v) != 0; };
    bool fine = matched.empty() ? std::none_of(n->inputs.begin(), n->inputs.end(), bad) : std::none_of(matched.begin(), matched.end(), bad);
    if (fine) {
      if (!matched.empty()) tosa::lower_matched(w, *n);
      else if (!n->is_operator() || (!lower_elementwise(w, *n) && !lower_moves(w, *n) && !lower_products(w, *n)))
        w.fail("the operator has no form in TOSA");
      fine = report(n->name + " (" + name_of(*n) + ")", "");
    }
    if (!fine) stand_in(w, *n, &refused);
  }
  for (size_t i = 0; problems->empty() && i < m.block->results.size(); ++i) {
    w.output(m.block->results[i], m.output_names[i]);
    report("output " + m.output_names[i], "");
  }
  if (!problems->empty()) return false;
  *out = w.finish();
  return true;
}

}  // namespace mote::emit
