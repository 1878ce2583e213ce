#pragma once

// For which sizes of its open dimensions a graph can be computed, and whether what is known of it holds there. Facts know a few of them; a
// window that needs seven elements, or a split into three parts, is refused at others, and the last part may be larger at others.

#include <string>
#include <unordered_map>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

// Which symbol each dimension of an input is; -1: none. By the sizes that facts have, so symbols of the same range are taken for one.
std::vector<int> symbols_of(const Graph& graph, const Value& input);

// Asks every operator of a graph for its types with the symbols at any sizes (shape arithmetic is followed). It does so in the facts of
// sample 2, which are as before once the probe is gone.
class Probe {
 public:
  // `apart`: symbols of the same range, too, have sizes of their own; otherwise they are taken for one (some models name equal sizes
  // differently, and are computed only where they are equal).
  explicit Probe(Graph& graph, bool apart = false);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // Empty: all of them accept; otherwise the first that does not, with its reason.
  std::string refusal_at(const std::vector<int32_t>& sizes);
  // The first value that is larger there than its bound, has another size although it is static, or other contents than the known ones.
  // Empty: none. Where the graph was made with what is not so, a refusal behind it says nothing of the model.
  const std::string& unforeseen() const { return unforeseen_; }

 private:
  void enter(const Node& loop);
  std::string walk(Block& block);
  void compare(const Value& value);
  void restore(Block& block);

  Graph& graph_;
  std::vector<std::pair<Value*, std::vector<int>>> inputs_;
  std::unordered_map<const Value*, Facts> before_;  // sample 2
  std::string unforeseen_;
};

}  // namespace mote::ir
