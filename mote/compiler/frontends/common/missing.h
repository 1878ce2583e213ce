#pragma once

// With ImportOptions::partial: nodes that a front end refuses become custom operators, for the user to fill in.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::frontends {

// A node as its front end refused it.
struct MissingNode {
  std::string op, name, why;                                    // "acme.Blend"; the node's name in the graph
  std::string symbol;                                           // "acme::Blend"
  std::vector<std::pair<std::string, std::string>> attributes;  // as in ir::MissingOp
  std::vector<ir::Value*> inputs;                               // null: absent
  std::vector<std::string> input_names, output_names;
  std::vector<std::optional<ir::Type>> outputs;  // what the model says of them
};

// Adds a node that stands for it, of a kind that the graph has already where operator, attributes, types and shapes are the same. Null
// with *error where an output's type or a size is not known: the output is named.
ir::Node* add_missing(ir::Graph& graph, ir::Block& block, const MissingNode& node, std::string* error);

// Erases the nodes of a block behind the first `keep`: what an importer had made before it refused. Nothing else may use them.
void drop_nodes(ir::Graph& graph, ir::Block& block, size_t keep);

// Texts of attributes: "1.5", "[1, 2]", "\"same\"".
std::string attribute_text(double value);
std::string attribute_text(int64_t value);
std::string attribute_text(const std::string& value);
template <class List>
std::string attribute_list(const List& values) {
  constexpr int kMost = 64;
  std::string text = "[";
  int count = 0;
  for (const auto& v : values) {
    if (++count > kMost) break;
    text += (count > 1 ? ", " : "") + attribute_text(v);
  }
  return text + (count > kMost ? ", ...]" : "]");
}
inline std::string attribute_text(float value) { return attribute_text(static_cast<double>(value)); }

}  // namespace mote::frontends
