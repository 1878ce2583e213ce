#pragma once

// Programs that were exported without decompositions change tensors in place, also through views of them. Here values never change: a
// name whose tensor was changed stands for another value from then on. Aliases knows which names are views of which, writes a change of a
// view back into the tensor it looks at, and brings other views up to date when they are read.

#include <string>
#include <unordered_map>
#include <vector>

#include "mote/compiler/frontends/torch/schema.h"
#include "mote/compiler/ir/graph.h"

namespace mote::frontends::torch {

class Importer;
struct Scope;

class Aliases {
 public:
  // Looks at a graph's nodes; does nothing from then on when none of them works in place.
  void prepare(const GraphDef& graph);

  // Before a node is imported: brings the tensors it reads up to date. False after a problem.
  bool refresh(Importer& importer, const NodeDef& node, Scope& scope);
  bool refresh(Importer& importer, const std::string& name, Scope& scope, int depth = 0);
  // After a node was imported: remembers what its outputs are views of, or carries out what it changed. False after a problem.
  bool note(Importer& importer, const NodeDef& node, Scope& scope);

 private:
  struct View {
    std::string base;
    const NodeDef* node = nullptr;
    size_t output = 0;
    uint64_t seen = 0;  // version of the base that the value was computed from
  };
  bool change(Importer& importer, const NodeDef& node, const std::string& name, ir::Value* value, Scope& scope, int depth);
  bool problem(Importer& importer, const NodeDef& node, const std::string& what);

  bool active_ = false;
  std::unordered_map<std::string, View> views_;
  std::unordered_map<std::string, uint64_t> versions_;
};

}  // namespace mote::frontends::torch
