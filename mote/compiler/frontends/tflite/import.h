#pragma once

// From a Model to a Graph: methods from signatures, tensors to values, subgraphs into blocks, variables into states.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/frontends/common/open_dims.h"
#include "mote/compiler/frontends/tflite/op.h"

namespace mote::frontends::tflite {

// The tensors of one subgraph while it is imported into a block.
struct Scope {
  const SubGraph* graph = nullptr;
  int index = 0;
  ir::Block* block = nullptr;
  std::vector<Value*> values;        // by tensor; null: not yet known
  std::vector<bool> failed;          // by tensor: its operator was refused
  std::vector<std::string> handles;  // by tensor: the variable that a resource names
  std::vector<Value*> states;        // by tensor: the state behind a variable tensor
  bool initializing = false;         // CALL_ONCE: assignments give states their first contents
};

// The tensor's name, or one made from its index.
std::string tensor_name(const SubGraph& g, int tensor);

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems)
      : model_(model), options_(options), graph_(graph), problems_(*problems) {}

  // False when anything was refused.
  bool run();

  const Model& model() const { return model_; }
  const ImportOptions& options() const { return options_; }
  ir::Graph& graph() { return graph_; }

  // Imports a subgraph into a block, its inputs being `arguments`. False when it cannot be entered or something in it was refused;
  // `where` names the operator that asks.
  bool import_subgraph(int index, ir::Block& block, const std::vector<Value*>& arguments, bool initializing, const std::string& where,
                       std::vector<Value*>* results);

  // The value of a tensor, made when it is a constant or a variable. Null with *error when it has none.
  Value* value_of(Scope& scope, int tensor, bool packed, std::string* error);
  // The state of a tensor marked as variable.
  Value* state_of(Scope& scope, const Tensor& tensor, std::string* error);
  // The state that a VAR_HANDLE names; made when `like` is given, null when unknown.
  Value* variable(const std::string& name, const ir::Type* like);

  // A place for `size` computed bytes; empty when the model asks for far more than its file could account for.
  bool take_bytes(uint64_t size, std::vector<uint8_t>* out, std::string* error);

  void problem(const std::string& where, const std::string& what, const std::string& advice = "");

 private:
  // An input or output of a method, and a method that is asked for (methods.cc).
  struct Entry {
    std::string name;
    int tensor = 0;
  };
  struct Wanted {
    std::string name;
    int subgraph = 0;
    std::vector<Entry> inputs, outputs;
  };
  void read_entries(const Vector<flatbuffers::Offset<fb::TensorMap>>* maps, const SubGraph& g, const std::vector<int>& order,
                    const std::string& where, std::vector<Entry>* out);
  std::vector<Wanted> find_methods();
  void keep_source_name(const char* kind, const Wanted& w, const Entry& e, const Tensor& t);
  const Dims* given_shape(const Entry& e, const Tensor& t) const;
  void find_symbols(const Entry& e, const Tensor& t, std::vector<OpenDim>* open);
  Value* add_input(ir::Method& method, const Entry& e, const Tensor& t);
  bool add_method(const Wanted& wanted);
  bool import_operator(Scope& scope, uint32_t index);
  // With --partial: a custom operator in place of one that was refused. False with *why.
  bool leave_to_user(const Op& op, Scope& scope, size_t nodes, std::string* why);
  void report(const Op& op, const Scope& scope, uint32_t index, const std::string& more);
  Value* constant_of(const Tensor& tensor, bool packed, std::string* error);

  const Model& model_;
  const ImportOptions& options_;
  ir::Graph& graph_;
  ir::Problems& problems_;
  std::map<std::pair<const Tensor*, bool>, Value*> constants_;
  std::map<const Tensor*, Value*> tensor_states_;
  std::map<std::string, Value*> variables_;
  std::map<std::pair<const Tensor*, int>, int> symbols_;  // (input tensor, axis) -> index in graph_.symbols
  std::set<int> entered_;                                 // subgraphs on the way to the present one
  uint64_t bytes_left_ = 0;
  int64_t operators_left_ = 400000;
};

}  // namespace mote::frontends::tflite
