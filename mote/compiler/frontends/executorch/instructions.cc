// Instructions as nodes: kernel calls, delegate calls, moves.

#include <algorithm>

#include "mote/compiler/frontends/executorch/kernels.h"
#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {
namespace {

// "aten::native_layer_norm.out" without namespace and overload, as a node's name has it.
std::string short_name(const std::string& kernel) {
  const size_t begin = kernel.find("::");
  const std::string name = begin == std::string::npos ? kernel : kernel.substr(begin + 2);
  return name.substr(0, name.find('.'));
}

}  // namespace

const fb::Instruction* Plan::instruction(uint32_t i) const { return table_.chains()->Get(0)->instructions()->Get(i); }

std::string Plan::where(uint32_t at) const { return "instruction " + std::to_string(at); }

bool Plan::read_instructions(uint32_t begin, uint32_t end, int depth) {
  bool fine = true;
  for (uint32_t at = begin; at < end;) {
    const fb::Instruction& i = *instruction(at);
    uint32_t next = at + 1;
    switch (i.instr_args() == nullptr ? fb::InstructionArguments::NONE : i.instr_args_type()) {
      case fb::InstructionArguments::KernelCall: fine = read_kernel(*i.instr_args_as_KernelCall(), at) && fine; break;
      case fb::InstructionArguments::DelegateCall: fine = read_delegate(*i.instr_args_as_DelegateCall(), at) && fine; break;
      case fb::InstructionArguments::MoveCall: fine = read_move(*i.instr_args_as_MoveCall()) && fine; break;
      case fb::InstructionArguments::FreeCall: break;
      case fb::InstructionArguments::JumpFalseCall:
        if (!read_branches(*i.instr_args_as_JumpFalseCall(), at, end, depth, &next)) return false;
        break;
      default: fine = wrong(where(at), "is of a kind that ExecuTorch 1.5 does not have");
    }
    at = next;
  }
  return fine;
}

bool Plan::read_kernel(const fb::KernelCall& call, uint32_t at) {
  const auto* operators = table_.operators();
  if (operators == nullptr || call.op_index() < 0 || static_cast<uint32_t>(call.op_index()) >= operators->size())
    return wrong(where(at), "there is no operator " + std::to_string(call.op_index()));
  const fb::Operator* o = operators->Get(static_cast<uint32_t>(call.op_index()));
  const std::string overload = text_of(o->overload()), kernel = text_of(o->name()) + (overload.empty() ? "" : "." + overload);
  const uint32_t count = call.args() == nullptr ? 0 : call.args()->size();
  if (count > shared_.items_left) return wrong(where(at), "lists more arguments than a file of this size can hold");
  shared_.items_left -= count;
  const Kernel* k = find_kernel(kernel);
  if (k == nullptr) return read_unknown_kernel(call, kernel, at);
  if (count < k->arguments.size() + std::max<size_t>(k->outputs, 1))
    return wrong(where(at),
                 kernel + " has " + std::to_string(count) + " arguments, expected " +
                     std::to_string(k->arguments.size() + std::max<size_t>(k->outputs, 1)) + " or more",
                 "export the program again with ExecuTorch 1.5");
  return add_node(*k, call, name_ + "/" + short_name(kernel) + "_" + std::to_string(at));
}

// Goes on as a node that the torch front end refuses, or leaves to a registered kernel: its last argument is what it writes.
bool Plan::read_unknown_kernel(const fb::KernelCall& call, const std::string& kernel, uint32_t at) {
  Kernel k;
  k.name = kernel.c_str();
  const size_t space = kernel.find("::");
  const std::string target = space == std::string::npos ? kernel : kernel.substr(0, space) + "." + kernel.substr(space + 2);
  k.target = target.c_str();
  const uint32_t count = call.args() == nullptr ? 0 : call.args()->size();
  if (count == 0)
    return wrong(where(at), kernel + " has no arguments, expected its output or more", "export the program again with ExecuTorch 1.5");
  // An out variant ends with its output and, behind it, the same value again as the result.
  const bool out = count >= 2 && call.args()->Get(count - 1) == call.args()->Get(count - 2);
  k.outputs = out ? 1 : 0;
  for (uint32_t i = 0; i + (out ? 2 : 1) < count; ++i) k.arguments.push_back({"argument_" + std::to_string(i), false});
  return add_node(k, call, name_ + "/" + short_name(kernel) + "_" + std::to_string(at));
}

bool Plan::add_node(const Kernel& kernel, const fb::KernelCall& call, const std::string& name) {
  torch::NodeDef node;
  node.target = kernel.target;
  node.name = name;
  bool fine = true;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& a = kernel.arguments[i];
    torch::NamedArg arg{a.name, {}};
    if (a.name.empty()) continue;
    fine = read_arg(call.args()->Get(static_cast<uint32_t>(i)), a.is_type, &arg.arg) && fine;
    node.inputs.push_back(std::move(arg));
  }
  std::vector<int64_t> outputs;
  const size_t first = kernel.outputs == 0 ? call.args()->size() - 1 : kernel.arguments.size();
  for (size_t i = 0; i < std::max<size_t>(kernel.outputs, 1); ++i) outputs.push_back(call.args()->Get(static_cast<uint32_t>(first + i)));
  std::vector<std::pair<int64_t, std::string>> back;
  const bool in_place = kernel.outputs == 0 && value_at(outputs[0]) != nullptr && call.args()->Get(0) == outputs[0];
  if (in_place) {  // the first argument itself, under another name
    const Value& v = values_[static_cast<size_t>(outputs[0])];
    Item item;
    item.kind = Item::Kind::kTensor;
    item.text = v.name + ".now" + std::to_string(shared_.items_left);
    if (fine && undo_ != nullptr) return wrong(name, "changes a tensor in one branch only", "write the branch without in-place changes");
    if (const fb::Tensor* t = tensor_at(outputs[0]); t != nullptr) declare(item.text, *t);
    node.outputs.push_back(item);
  } else {
    fine = define_outputs(outputs, &node) && fine;
    for (const int64_t o : outputs)
      if (value_at(o) != nullptr && values_[static_cast<size_t>(o)].placeholder && node.outputs.size() == 1)
        back.emplace_back(o, node.outputs[0].text);
  }
  if (!fine) return false;
  graph_->nodes.push_back(std::move(node));
  write_back(back, name);
  return true;
}

bool Plan::define_outputs(const std::vector<int64_t>& indices, torch::NodeDef* node) {
  for (const int64_t index : indices) {
    const fb::EValue* e = value_at(index);
    if (e == nullptr) return wrong(node->name, "there is no value " + std::to_string(index));
    const fb::TensorList* list = e->val_as_TensorList();
    if (list == nullptr) {
      node->outputs.push_back(define(index));
      continue;
    }
    const uint32_t n = list->items() == nullptr ? 0 : list->items()->size();
    if (n > shared_.items_left) return wrong(node->name, "lists more outputs than a file of this size can hold");
    shared_.items_left -= n;
    for (uint32_t i = 0; i < n; ++i) {
      if (tensor_at(list->items()->Get(i)) == nullptr) return wrong(node->name, "writes a list of something else than tensors");
      node->outputs.push_back(define(list->items()->Get(i)));
    }
  }
  return true;
}

// A kernel that writes an input or a state in place of a tensor of its own.
void Plan::write_back(const std::vector<std::pair<int64_t, std::string>>& written, const std::string& name) {
  for (const auto& [index, from] : written) {
    torch::NodeDef copy;
    copy.target = "aten.copy_.default";
    copy.name = name + "/write";
    copy.inputs = {{"self", argument_of(tensor_item(values_[static_cast<size_t>(index)].name))}, {"src", argument_of(tensor_item(from))}};
    const Item out = tensor_item(from + ".written");
    if (const fb::Tensor* t = tensor_at(index); t != nullptr) declare(out.text, *t);
    copy.outputs = {out};
    graph_->nodes.push_back(std::move(copy));
  }
}

bool Plan::read_move(const fb::MoveCall& call) {
  Item item;
  if (value_at(call.move_to()) == nullptr) return wrong("", "there is no value " + std::to_string(call.move_to()));
  if (!read_item(call.move_from(), false, &item)) return false;
  if (item.kind != Item::Kind::kTensor && item.kind != Item::Kind::kSymbol) return wrong("", "moves a value that is no tensor");
  rename(call.move_to(), item.text);
  if (written_ != nullptr) (*written_)[call.move_to()] = item.text;
  if (const fb::Tensor* t = tensor_at(call.move_to()); t != nullptr) hold(*t, {call.move_to(), item.text});
  return true;
}

}  // namespace mote::frontends::executorch
