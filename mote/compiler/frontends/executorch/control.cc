// Jumps as control flow: what torch.cond leaves behind is a jump over the first branch and, at the end of that, a jump over the second.

#include <algorithm>
#include <set>

#include "mote/compiler/frontends/executorch/kernels.h"
#include "mote/compiler/frontends/executorch/plan.h"

namespace mote::frontends::executorch {
namespace {

constexpr int kMaxBranches = 32;  // inside each other

// Names that a branch reads and does not make.
void add_free_names(const torch::GraphDef& graph, std::map<std::string, torch::Item>* out) {
  std::set<std::string> made;
  const auto read = [&](const torch::Item& i) {
    if ((i.kind == torch::Item::Kind::kTensor || i.kind == torch::Item::Kind::kSymbol) && made.count(i.text) == 0) out->emplace(i.text, i);
  };
  for (const torch::NodeDef& n : graph.nodes) {
    for (const torch::NamedArg& a : n.inputs)
      for (const torch::Item& i : a.arg.items) read(i);
    for (const torch::Item& o : n.outputs) made.insert(o.text);
  }
  for (const torch::Arg& o : graph.outputs)
    for (const torch::Item& i : o.items) read(i);
}

}  // namespace

bool Plan::read_branch(uint32_t begin, uint32_t end, int depth, torch::GraphDef* graph, std::map<int64_t, std::string>* written) {
  std::vector<Undo> undo;
  torch::GraphDef* const outer = graph_;
  std::vector<Undo>* const outer_undo = undo_;
  std::map<int64_t, std::string>* const outer_written = written_;
  graph_ = graph;
  undo_ = &undo;
  written_ = written;
  const bool fine = read_instructions(begin, end, depth);
  graph_ = outer;
  undo_ = outer_undo;
  written_ = outer_written;
  for (size_t i = undo.size(); i-- > 0;) undo[i].back();
  return fine;
}

bool Plan::read_branches(const fb::JumpFalseCall& jump, uint32_t at, uint32_t end, int depth, uint32_t* next) {
  const int64_t to = jump.destination_instruction();
  const std::string place = where(at);
  if (to <= at)
    return wrong(place, "jumps back to instruction " + std::to_string(to) + ": a loop, which is not supported",
                 "export the model with the loop (torch map or scan) written out");
  if (depth >= kMaxBranches) return wrong(place, "branches lie inside each other more than " + std::to_string(kMaxBranches) + " deep");
  const fb::JumpFalseCall* over =
      to - 1 > at && to <= static_cast<int64_t>(end) ? instruction(static_cast<uint32_t>(to - 1))->instr_args_as_JumpFalseCall() : nullptr;
  const fb::EValue* constant = over == nullptr ? nullptr : value_at(over->cond_value_index());
  const bool always = constant != nullptr && constant->val_as_Bool() != nullptr && !constant->val_as_Bool()->bool_val() &&
                      values_[static_cast<size_t>(over->cond_value_index())].name.empty();
  const int64_t behind = over == nullptr ? -1 : over->destination_instruction();
  if (!always || behind < to || behind > static_cast<int64_t>(end))
    return wrong(place, "jumps in a way that torch.cond does not leave behind", "export the program again with ExecuTorch 1.5");
  torch::NodeDef node;
  node.target = "higher_order.cond";
  node.name = name_ + "/cond_" + std::to_string(at);
  torch::Arg condition;
  if (!read_arg(jump.cond_value_index(), false, &condition)) return false;
  auto yes = std::make_shared<torch::GraphDef>(), no = std::make_shared<torch::GraphDef>();
  std::map<int64_t, std::string> by_yes, by_no;
  bool fine = read_branch(at + 1, static_cast<uint32_t>(to - 1), depth + 1, yes.get(), &by_yes);
  fine = read_branch(static_cast<uint32_t>(to), static_cast<uint32_t>(behind), depth + 1, no.get(), &by_no) && fine;
  *next = static_cast<uint32_t>(behind);
  for (const auto& [index, name] : by_yes) {
    const auto other = by_no.find(index);
    if (other == by_no.end()) continue;
    Item item = define(index);
    node.outputs.push_back(item);
    item.text = name;
    yes->outputs.push_back(argument_of(item));
    item.text = other->second;
    no->outputs.push_back(argument_of(item));
  }
  std::map<std::string, torch::Item> free;
  add_free_names(*yes, &free);
  add_free_names(*no, &free);
  torch::Arg operands;
  operands.kind = torch::Arg::Kind::kList;
  for (const auto& [name, item] : free) {
    operands.items.push_back(item);
    yes->inputs.push_back(argument_of(item));
    no->inputs.push_back(argument_of(item));
  }
  torch::Arg graphs[2];
  graphs[0].kind = graphs[1].kind = torch::Arg::Kind::kGraph;
  graphs[0].graph = yes;
  graphs[1].graph = no;
  node.inputs = {{"", condition}, {"", graphs[0]}, {"", graphs[1]}, {"", operands}};
  if (fine) graph_->nodes.push_back(std::move(node));
  return fine;
}

}  // namespace mote::frontends::executorch
