#pragma once

// How front ends and passes write nodes: inference included, errors kept.

#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"

namespace mote::ir {

// Adds nodes to one block (at its end, or in front of a node). After an error, calls return null and do nothing; error() has the first.
class NodeBuilder {
 public:
  NodeBuilder(Graph& graph, Block& block, std::string name, Node* before = nullptr)
      : graph_(graph), block_(block), name_(std::move(name)), before_(before) {}

  // An operator with one output. Null inputs are absent optional ones.
  template <class A = NoAttrs>
  Value* op(OpId id, const A& attrs, const std::vector<Value*>& inputs) {
    const auto out = ops(id, attrs, inputs, 1);
    return out.empty() ? nullptr : out[0];
  }
  // With the attributes' defaults.
  Value* op(OpId id, const std::vector<Value*>& inputs) { return op(id, NoAttrs{}, inputs); }
  // With several outputs. Empty after an error.
  template <class A>
  std::vector<Value*> ops(OpId id, const A& attrs, const std::vector<Value*>& inputs, size_t outputs) {
    return add(static_cast<uint16_t>(id), &attrs, attrs_size<A>, inputs, outputs);
  }

  // Frequent ones. Sizes of -1 and 0 in reshape as the operator says.
  Value* reshape(Value* x, const Dims& dims);
  Value* transpose(Value* x, const Dims& perm);
  Value* cast(Value* x, DType to);  // x itself when it has that type
  Value* unsqueeze(Value* x, const std::vector<int64_t>& axes);
  Value* squeeze(Value* x, const std::vector<int64_t>& axes);

  // What the model declares of output i of the following operators, where their rank is the same: bounds for sizes that depend on data.
  void declare(std::vector<std::optional<Type>> outputs) { declared_ = std::move(outputs); }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void fail(const std::string& why) {
    if (error_.empty()) error_ = why.empty() ? "unknown failure" : why;
  }
  Graph& graph() { return graph_; }
  Block& block() { return block_; }
  const std::string& name() const { return name_; }

 private:
  // Reshapes so that axis i of the result is axis from[i] of x, or a new one of size 1 (-1). Axes left out have size 1.
  Value* reshape_keeping(Value* x, const std::vector<int>& from);
  std::vector<Value*> add(uint16_t op, const void* attrs, size_t attrs_bytes, const std::vector<Value*>& inputs, size_t outputs);

  Graph& graph_;
  Block& block_;
  std::string name_;
  Node* before_;
  std::string error_;
  std::vector<std::optional<Type>> declared_;
};

}  // namespace mote::ir
