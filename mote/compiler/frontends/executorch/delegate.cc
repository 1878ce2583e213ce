// Delegate calls. Payloads of the XNNPACK delegate are graphs that can be read; parts of a model that were compiled for other runtimes
// cannot be read back: they are counted and told once.

#include <algorithm>

#include "mote/compiler/frontends/executorch/kernels.h"
#include "mote/compiler/frontends/executorch/plan.h"
#include "mote/compiler/frontends/executorch/xnnpack.h"
#include "mote/compiler/frontends/torch/import.h"

namespace mote::frontends::executorch {
namespace {

// One call, as the torch front end's driver comes to it.
struct XnnpackCall {
  const Program& program;
  ir::Bytes payload;
  std::vector<std::vector<int>> input_orders, output_orders;  // of dimensions in memory; empty: row-major
  std::string place;

  void import(torch::Op& o) const {
    std::vector<ir::Value*> inputs, outputs;
    for (size_t i = 0; i < input_orders.size(); ++i) {
      ir::Value* v = o.in(("input_" + std::to_string(i)).c_str());
      inputs.push_back(input_orders[i].empty() ? v : o.transpose(v, input_orders[i]));
    }
    if (!o.b.ok()) return;
    std::vector<ir::Type> declared;
    for (size_t i = 0; i < output_orders.size(); ++i) declared.push_back(declared_type(o, i));
    ir::Problems problems;
    const NamedData data = [this](std::string_view key) { return program.named(key); };
    if (!import_xnnpack(payload, data, o.b.graph(), o.b.block(), inputs, declared, &outputs, problems, place)) {
      for (const ir::Problem& p : problems) o.importer.problem(p.where, p.what, p.advice);
      o.given_up = true;
      return;
    }
    for (size_t i = 0; i < outputs.size() && i < output_orders.size(); ++i) o.out(i, logical(o, outputs[i], output_orders[i]));
  }

 private:
  // As the program says, in the order of memory.
  ir::Type declared_type(torch::Op& o, size_t i) const {
    const torch::TensorMeta* meta = o.meta(i);
    const std::optional<ir::Type> type = meta == nullptr ? std::nullopt : o.importer.declared_type(*meta);
    if (!type || output_orders[i].size() != type->dims.size()) return type.value_or(ir::Type{});
    ir::Type moved{type->dtype, {}, 0};
    for (const int axis : output_orders[i]) {
      if ((type->dynamic >> axis & 1) != 0) moved.dynamic = static_cast<uint8_t>(moved.dynamic | 1u << moved.dims.size());
      moved.dims.push_back(type->dims[static_cast<size_t>(axis)]);
    }
    return moved;
  }

  static ir::Value* logical(torch::Op& o, ir::Value* v, const std::vector<int>& order) {
    if (order.empty() || static_cast<int>(order.size()) != rank_of(v)) return v;
    std::vector<int> back(order.size());
    for (size_t k = 0; k < order.size(); ++k) back[static_cast<size_t>(order[k])] = static_cast<int>(k);
    return o.transpose(v, back);
  }
};

std::vector<int> order_of(const fb::Tensor* t) {
  std::vector<int> order;
  for (uint32_t k = 0; t != nullptr && t->dim_order() != nullptr && k < t->dim_order()->size(); ++k)
    order.push_back(t->dim_order()->Get(k));
  return std::is_sorted(order.begin(), order.end()) ? std::vector<int>{} : order;
}

}  // namespace

bool Plan::read_delegate(const fb::DelegateCall& call, uint32_t at) {
  const auto* delegates = table_.delegates();
  if (delegates == nullptr || call.delegate_index() < 0 || static_cast<uint32_t>(call.delegate_index()) >= delegates->size())
    return wrong(where(at), "there is no delegate " + std::to_string(call.delegate_index()));
  const fb::BackendDelegate* delegate = delegates->Get(static_cast<uint32_t>(call.delegate_index()));
  const uint32_t count = call.args() == nullptr ? 0 : call.args()->size();
  if (count > shared_.items_left) return wrong(where(at), "lists more arguments than a file of this size can hold");
  shared_.items_left -= count;
  const std::string id = text_of(delegate->id());
  if (id == "XnnpackBackend") return read_xnnpack(*delegate, call, at);
  ++shared_.refused[id];
  // What it writes is there for what follows, so that only the delegate is reported.
  for (uint32_t i = 0; i < count; ++i) {
    const fb::Tensor* t = tensor_at(call.args()->Get(i));
    if (t != nullptr && t->data_buffer_idx() == 0 && values_[static_cast<size_t>(call.args()->Get(i))].name.empty())
      define(call.args()->Get(i));
  }
  return true;
}

bool Plan::read_xnnpack(const fb::BackendDelegate& delegate, const fb::DelegateCall& call, uint32_t at) {
  const std::optional<ir::Bytes> payload = shared_.program.payload(delegate.processed());
  if (!payload) return wrong(where(at), "the delegate's payload does not lie in the file", "export the program again");
  size_t inputs = 0, outputs = 0;
  if (!xnnpack_arity(*payload, &inputs, &outputs))
    return wrong(where(at), "the payload of the XNNPACK delegate cannot be read", "export the program again with ExecuTorch 1.5");
  const size_t count = call.args() == nullptr ? 0 : call.args()->size();
  if (inputs + outputs != count)
    return wrong(where(at), "the delegate has " + std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                                " outputs, the instruction " + std::to_string(count) + " arguments");
  torch::NodeDef node;
  node.name = name_ + "/xnnpack_" + std::to_string(at);
  node.target = "executorch.xnnpack." + name_ + "." + std::to_string(at);
  XnnpackCall made{shared_.program, *payload, {}, {}, "method '" + name_ + "', " + where(at) + " (XnnpackBackend)"};
  bool fine = true;
  std::vector<int64_t> written;
  std::vector<std::pair<int64_t, std::string>> back;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t index = call.args()->Get(i);
    if (i >= inputs) {
      if (tensor_at(index) == nullptr)
        return wrong(where(at), "the delegate writes value " + std::to_string(index) + ", which is no tensor");
      written.push_back(index);
      made.output_orders.push_back(order_of(tensor_at(index)));
      continue;
    }
    torch::NamedArg arg{"input_" + std::to_string(i), {}};
    fine = read_arg(index, false, &arg.arg) && fine;
    node.inputs.push_back(std::move(arg));
    made.input_orders.push_back(order_of(tensor_at(index)));
  }
  fine = define_outputs(written, &node) && fine;
  if (!fine) return false;
  for (size_t i = 0; i < written.size(); ++i)
    if (values_[static_cast<size_t>(written[i])].placeholder) back.emplace_back(written[i], node.outputs[i].text);
  shared_.model.own_ops[node.target] = [made](torch::Op& o) { made.import(o); };
  const std::string name = node.name;
  graph_->nodes.push_back(std::move(node));
  write_back(back, name);
  return true;
}

}  // namespace mote::frontends::executorch
