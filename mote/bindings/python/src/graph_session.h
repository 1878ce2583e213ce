#pragma once

// Which parts of a graph are there, while Python holds handles to them.

#include <memory>
#include <unordered_set>
#include <vector>

#include "mote/bindings/python/src/failure.h"
#include "mote/compiler/ir/graph.h"

namespace mote::python {

class GraphSession {
 public:
  explicit GraphSession(ir::Graph& graph) : graph_(&graph) { look(); }

  void end() { graph_ = nullptr; }
  ir::Graph& graph() const {
    if (graph_ == nullptr) raise(MOTE_INVALID_ARGUMENT, "the graph can be used while the pass runs that was given it, not afterwards");
    return *graph_;
  }
  ir::Node& check(ir::Node* node) const {
    (void)graph();
    if (nodes_.count(node) == 0) raise(MOTE_INVALID_ARGUMENT, "the node is not in the graph any more");
    return *node;
  }
  ir::Value& check(ir::Value* value) const {
    (void)graph();
    if (values_.count(value) == 0) raise(MOTE_INVALID_ARGUMENT, "the value is not in the graph any more");
    return *value;
  }

  // After changes.
  void look();
  void add(ir::Node* node);
  void add(ir::Value* value) { values_.insert(value); }

 private:
  void look(const ir::Block& block);

  ir::Graph* graph_;
  std::unordered_set<ir::Node*> nodes_;
  std::unordered_set<ir::Value*> values_;
};

struct ValueHandle {
  std::shared_ptr<GraphSession> session;
  ir::Value* value;
  ir::Value& get() const { return session->check(value); }
};

struct NodeHandle {
  std::shared_ptr<GraphSession> session;
  ir::Node* node;
  ir::Node& get() const { return session->check(node); }
};

struct GraphHandle {
  std::shared_ptr<GraphSession> session;
  ir::Graph& get() const { return session->graph(); }
};

}  // namespace mote::python
