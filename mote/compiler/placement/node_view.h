#pragma once

// A node as backends and the cost model see it.

#include <vector>

#include "mote/api/backend_compiler.h"
#include "mote/compiler/ir/graph.h"
#include "mote/compiler/program/cost.h"

namespace mote::placement {

TensorDesc desc_of(const ir::Value& value);

// What a backend is asked about. Valid while the node and this live.
class NodeView {
 public:
  explicit NodeView(const ir::Node& node);
  NodeView(const NodeView&) = delete;
  NodeView& operator=(const NodeView&) = delete;
  const mote_backend_op& op() const { return op_; }
  const program::Cost& cost() const { return cost_; }

 private:
  std::vector<uint8_t> attrs_;
  std::vector<mote_backend_operand> inputs_, outputs_;
  mote_backend_op op_{};
  program::Cost cost_;
};

}  // namespace mote::placement
