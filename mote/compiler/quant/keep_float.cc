#include "mote/compiler/quant/keep_float.h"

#include <algorithm>

#include "mote/compiler/ir/nearest.h"
#include "mote/compiler/passes/rewrite.h"
#include "mote/compiler/quant/prepare.h"
#include "mote/compiler/quant/weights.h"

namespace mote::quant {
namespace {

void collect(ir::Graph& graph, std::set<std::string>* nodes) {
  passes::each_node(graph, [&](ir::Node& n) {
    if (n.is_operator() && (can_be_integer(n) || is_table(n))) nodes->insert(n.name);
    return false;
  });
}

// "Conv_3", "Relu_4" of "Conv_3+Relu_4".
std::vector<std::string> parts_of(const std::set<std::string>& nodes) {
  std::set<std::string> parts;
  for (const std::string& node : nodes) {
    for (size_t at = 0; at <= node.size();) {
      const size_t end = std::min(node.find('+', at), node.size());
      if (end > at) parts.insert(node.substr(at, end - at));
      at = end + 1;
    }
  }
  return {parts.begin(), parts.end()};
}

}  // namespace

bool check_in_float(const std::set<std::string>& names, const frontends::Source& source, const driver::CompileOptions& compile,
                    ir::Problems* problems) {
  if (names.empty()) return true;
  std::set<std::string> nodes;
  const auto edit = [&](ir::Graph& graph, std::string*) {
    collect(graph, &nodes);
    prepare(graph);  // takes apart what stands together in one node
    collect(graph, &nodes);
    return true;
  };
  Probe probe;
  if (!probe.build(source, compile, edit, problems)) return false;
  const std::vector<std::string> known = parts_of(nodes);
  const size_t before = problems->size();
  for (const std::string& name : names) {
    if (std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return is_named({name}, node); })) continue;
    problems->push_back({"--keep-float " + name,
                         "no operator that quantizing changes comes from a node of that name" + ir::did_you_mean(name, known),
                         "the nodes such operators come from: " + ir::listed(known)});
  }
  return problems->size() == before;
}

}  // namespace mote::quant
