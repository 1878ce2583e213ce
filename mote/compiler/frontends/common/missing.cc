#include "mote/compiler/frontends/common/missing.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace mote::frontends {
namespace {

constexpr size_t kMostOperands = 60;    // mote_custom_op
constexpr size_t kMostAttribute = 400;  // letters of a text that are kept

// Names of custom operators are words of letters, digits, '_' and "::".
std::string plain(const std::string& symbol) {
  std::string out;
  for (const char c : symbol) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '.' ? c : '_';
  return out;
}

bool same_kind(const ir::MissingOp& kind, const MissingNode& node) {
  if (kind.op != node.op || kind.attributes != node.attributes || kind.inputs.size() != node.inputs.size() ||
      kind.outputs.size() != node.outputs.size())
    return false;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (kind.inputs[i].type != (node.inputs[i] != nullptr ? node.inputs[i]->type : ir::Type{})) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (kind.outputs[i].type != *node.outputs[i]) return false;
  return true;
}

bool outputs_known(const MissingNode& node, std::string* error) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::optional<ir::Type>& type = node.outputs[i];
    const bool open = type && (!type->is_static() || std::any_of(type->dims.begin(), type->dims.end(), [](int32_t d) { return d < 0; }));
    if (type && type->dtype != DType::kNone && type->fits() && !open) continue;
    *error = "its output '" + node.output_names[i] + "' has " + (open ? "open sizes" : "no known type and shape") + " in the model";
    return false;
  }
  if (!node.outputs.empty() && node.inputs.size() + node.outputs.size() <= kMostOperands) return true;
  *error = "it has " + std::to_string(node.inputs.size()) + " inputs and " + std::to_string(node.outputs.size()) + " outputs; at most " +
           std::to_string(kMostOperands) + " together are possible, and at least one output";
  return false;
}

// The kind of a node, made where it is new.
ir::MissingOp& kind_of(ir::Graph& graph, const MissingNode& node) {
  size_t same_op = 0;
  for (ir::MissingOp& kind : graph.missing_ops) {
    if (same_kind(kind, node)) return kind;
    same_op += kind.symbol == plain(node.symbol) || kind.symbol.rfind(plain(node.symbol) + "_", 0) == 0;
  }
  ir::MissingOp kind;
  kind.op = node.op, kind.why = node.why, kind.attributes = node.attributes;
  kind.symbol = plain(node.symbol) + (same_op > 0 ? "_" + std::to_string(same_op + 1) : "");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool there = node.inputs[i] != nullptr;
    kind.inputs.push_back({there ? node.input_names[i] : "", there ? node.inputs[i]->type : ir::Type{}});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) kind.outputs.push_back({node.output_names[i], *node.outputs[i]});
  graph.missing_ops.push_back(std::move(kind));
  return graph.missing_ops.back();
}

}  // namespace

ir::Node* add_missing(ir::Graph& graph, ir::Block& block, const MissingNode& node, std::string* error) {
  if (!outputs_known(node, error)) return nullptr;
  ir::MissingOp& kind = kind_of(graph, node);
  kind.nodes.push_back(node.name);
  ir::Node* n = graph.add_node(block, ir::kCustom, nullptr, 0, node.inputs, node.outputs.size(), node.name);
  n->symbol = kind.symbol;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    n->outputs[i]->type = *node.outputs[i];
    n->outputs[i]->name = node.output_names[i];
  }
  return n;
}

void drop_nodes(ir::Graph& graph, ir::Block& block, size_t keep) {
  while (block.nodes.size() > keep) graph.erase(block.nodes.back().get());
}

std::string attribute_text(double value) {
  char s[32];
  std::snprintf(s, sizeof s, "%.9g", value);
  return s;
}

std::string attribute_text(int64_t value) { return std::to_string(value); }

std::string attribute_text(const std::string& value) {
  std::string out = "\"";
  for (const char c : value.substr(0, kMostAttribute))
    out += std::isprint(static_cast<unsigned char>(c)) != 0 && c != '"' && c != '\\' ? c : '?';
  return out + (value.size() > kMostAttribute ? "...\"" : "\"");
}

}  // namespace mote::frontends
