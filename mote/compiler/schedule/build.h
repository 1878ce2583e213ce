#pragma once

// From a graph to steps: every value gets a tensor, every arena tensor a buffer of its own. share.h then decides which tensors share
// bytes.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/schedule/plan.h"
#include "mote/runtime/op_registry.h"

namespace mote::schedule {

// The execution order of a block's nodes.
using BlockOrder = std::function<std::vector<const ir::Node*>(const ir::Block&)>;

class StepBuilder {
 public:
  StepBuilder(const ir::Graph& graph, const OpRegistry& ops, const BlockOrder& order, bool io_in_arena, Plan& plan, std::string& error)
      : graph_(graph), ops_(ops), order_(order), io_in_arena_(io_in_arena), plan_(plan), error_(error) {}

  // False with the reason in `error`.
  bool run();
  // The value of the graph that each tensor stands for; tensors made by this class have none.
  const std::map<TensorId, const ir::Value*>& values() const { return values_; }

 private:
  bool fail(const ir::Node& node, const std::string& why);
  bool method(const ir::Method& method);
  bool block(const ir::Block& block);
  bool node(const ir::Node& node);

  // build_ops.cc
  bool operation(const ir::Node& node);
  bool check_outputs(const ir::Node& node, Step& step);
  bool infer_outputs(const ir::Node& node, const Step& step, std::vector<TensorType>* types);

  // build_control.cc
  struct Loop;
  bool if_node(const ir::Node& node);
  bool branch(const ir::Node& node, size_t index, const std::vector<TensorId>& outputs);
  bool loop_node(const ir::Node& node);
  void initialize_loop(const ir::Node& node, Loop& loop);
  void allocate_scans(const ir::Node& node, Loop& loop);
  void collect_scan(const ir::Node& node, const Loop& loop, size_t scan);
  void assign_carried(const ir::Node& node, const Loop& loop);
  bool assign_node(const ir::Node& node);
  bool delegate_node(const ir::Node& node);

  // The tensor of a value that has been computed.
  TensorId tensor_of(const ir::Value& value);
  // The tensor a node's output is written to: the one requested for it, or a new one.
  TensorId output_of(const ir::Value& value);
  // Requests that the value is computed directly into `place`. False when it is not computed in this block: it must be copied there.
  bool request_place(const ir::Value& value, const ir::Block& block, TensorId place);
  TensorId add_io(const ir::Value& value, Storage storage, size_t index);
  TensorId add_tensor(const ir::Type& type, Storage storage, const std::string& name);
  TensorId add_view(TensorId of, uint64_t at, DType dtype, const ir::Dims& dims);
  TensorId add_constant(DType dtype, const ir::Dims& dims, const ir::Bytes& data, Layout layout, const std::string& name);
  TensorId ints(const std::vector<int64_t>& values);
  TensorId state_of(const ir::Value& value);
  template <class A>
  void add_step(OpId op, const A& attrs, const std::vector<TensorId>& inputs, const std::vector<TensorId>& outputs,
                const std::string& name) {
    Step s;
    s.op = static_cast<uint16_t>(op);
    const auto* p = reinterpret_cast<const uint8_t*>(&attrs);
    s.attrs.assign(p, p + attrs_size<A>);
    s.inputs = inputs;
    s.outputs = outputs;
    s.name = name;
    plan_.steps.push_back(std::move(s));
  }
  void copy(TensorId from, TensorId to, const std::string& name) { add_step(OpId::copy, NoAttrs{}, {from}, {to}, name); }

  const ir::Graph& graph_;
  const OpRegistry& ops_;
  const BlockOrder& order_;
  const bool io_in_arena_;
  Plan& plan_;
  std::string& error_;
  std::string too_large_;              // problem of the first tensor beyond the size limits
  std::map<int, TensorId> tensors_;    // by value id
  std::map<int, TensorId> requested_;  // requested destinations, by value id
  std::map<TensorId, const ir::Value*> values_;
};

}  // namespace mote::schedule
