#pragma once

// One execution plan of a program as the program that the torch front end imports: kernel calls become nodes of the operators they are,
// values that are written become names, planned memory becomes views and states. Private to this front end.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mote/compiler/frontends/executorch/program.h"
#include "mote/compiler/frontends/torch/schema.h"
#include "mote/compiler/frontends/torch/torch.h"

namespace mote::frontends::executorch {

// Axes of inputs that are open: by number of the input and axis, the symbol's name.
using OpenAxes = std::map<std::pair<size_t, size_t>, std::string>;

// torch's serialized number of an element type (schema.h) for ExecuTorch's; 0 where Mote has none.
int scalar_type_of(int8_t executorch_type);

inline torch::Item tensor_item(const std::string& name) {
  torch::Item item;
  item.kind = torch::Item::Kind::kTensor;
  item.text = name;
  return item;
}

// The argument that is this one item.
inline torch::Arg argument_of(const torch::Item& item) {
  torch::Arg arg;
  arg.kind = item.kind == torch::Item::Kind::kNone ? torch::Arg::Kind::kNone : torch::Arg::Kind::kOne;
  if (item.kind != torch::Item::Kind::kNone) arg.items.push_back(item);
  return arg;
}

// What the plans of a program share: tensors by where they lie in the file, and a budget of work.
struct Shared {
  const Program& program;
  torch::ExportedModel& model;
  ir::Problems& problems;
  std::map<std::string, size_t> tensors;  // indices into model.tensors
  uint64_t items_left = 0;                // arguments that instructions may still list
  std::map<std::string, size_t> refused;  // delegates that nobody reads: instructions by id
};

struct Kernel;

class Plan {
 public:
  Plan(const fb::ExecutionPlan& table, Shared& shared, const OpenAxes& open) : table_(table), shared_(shared), open_(open) {}

  // False with problems told.
  bool read(torch::ExportedMethod* out);

 private:
  using Item = torch::Item;
  struct Value {
    std::string name;          // what holds it now; empty: nothing has written it yet
    bool placeholder = false;  // an input or a state: written in place
    uint32_t writes = 0;
  };
  // Planned memory at one place: who wrote it last.
  struct Holder {
    int64_t value = -1;
    std::string name;
  };
  using Place = std::pair<uint32_t, uint64_t>;
  struct Undo {
    std::function<void()> back;
  };

  // --- plan.cc: the plan's frame ---
  bool check_table();
  bool wrong(const std::string& where, const std::string& what, const std::string& advice = "");
  void add_inputs();
  void add_outputs();
  void name_outputs();
  size_t value_count() const { return table_.values() == nullptr ? 0 : table_.values()->size(); }
  const fb::EValue* value_at(int64_t index) const;
  const fb::Tensor* tensor_at(int64_t index) const;

  // --- values.cc: what instructions read and write ---
  bool read_item(int64_t index, bool is_type, Item* out);
  bool read_arg(int64_t index, bool is_type, torch::Arg* out);
  template <class List>
  bool read_list(const List* items, torch::Arg* out);
  std::string use_tensor(int64_t index);
  std::string add_constant(int64_t index, const fb::Tensor& t);
  std::string add_state(int64_t index, const fb::Tensor& t);
  size_t place_tensor(const std::string& key, const fb::Tensor& t, const std::optional<ir::Bytes>& bytes);
  std::string view_of(int64_t index, const fb::Tensor& t, const Holder& holder);
  // A new name for a value that an instruction writes; an item of the kind it has.
  Item define(int64_t index);
  void rename(int64_t index, const std::string& name);
  void hold(const fb::Tensor& t, Holder holder);
  void declare(const std::string& name, const fb::Tensor& t);
  torch::TensorMeta meta_of(const fb::Tensor& t) const;
  static bool place_of(const fb::Tensor& t, Place* out);
  static uint64_t bytes_of(const fb::Tensor& t);

  // --- instructions.cc, control.cc ---
  bool read_instructions(uint32_t begin, uint32_t end, int depth);
  bool read_kernel(const fb::KernelCall& call, uint32_t at);
  bool read_unknown_kernel(const fb::KernelCall& call, const std::string& kernel, uint32_t at);
  bool add_node(const Kernel& kernel, const fb::KernelCall& call, const std::string& name);
  bool read_delegate(const fb::DelegateCall& call, uint32_t at);
  bool read_xnnpack(const fb::BackendDelegate& delegate, const fb::DelegateCall& call, uint32_t at);
  bool read_move(const fb::MoveCall& call);
  bool define_outputs(const std::vector<int64_t>& indices, torch::NodeDef* node);
  void write_back(const std::vector<std::pair<int64_t, std::string>>& written, const std::string& name);
  bool read_branches(const fb::JumpFalseCall& jump, uint32_t at, uint32_t end, int depth, uint32_t* next);
  bool read_branch(uint32_t begin, uint32_t end, int depth, torch::GraphDef* graph, std::map<int64_t, std::string>* written);
  const fb::Instruction* instruction(uint32_t i) const;
  std::string where(uint32_t at) const;

  const fb::ExecutionPlan& table_;
  Shared& shared_;
  const OpenAxes& open_;
  std::string name_;
  torch::ExportedMethod* out_ = nullptr;
  std::shared_ptr<torch::ProgramDef> program_;
  torch::GraphDef* graph_ = nullptr;  // that instructions are added to
  std::vector<Value> values_;
  std::map<Place, Holder> holders_;
  std::vector<Undo>* undo_ = nullptr;  // inside a branch
  std::map<int64_t, std::string>* written_ = nullptr;
};

}  // namespace mote::frontends::executorch
