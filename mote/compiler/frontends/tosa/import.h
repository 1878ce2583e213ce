#pragma once

// From a Model to a Graph: the first region becomes the method, its tensors values, regions of control flow blocks, variables states.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/frontends/tosa/op.h"

namespace mote::frontends::tosa {

// The tensors of one region while it is imported into a block.
struct Scope {
  const Region* region = nullptr;
  int index = 0;
  ir::Block* block = nullptr;
  std::map<std::string_view, Value*> values;
  std::map<std::string_view, std::vector<int64_t>> sizes;  // values of type shape
  std::set<std::string_view> failed;                       // outputs of operators that were refused
};

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems)
      : model_(model), options_(options), graph_(graph), problems_(*problems) {}

  // False when anything was refused.
  bool run();

  const Model& model() const { return model_; }
  const ImportOptions& options() const { return options_; }
  ir::Graph& graph() { return graph_; }

  // Imports a region into a block, its inputs being `arguments`. False when it cannot be entered or something in it was refused;
  // `where` names the operator that asks.
  bool import_region(int index, ir::Block& block, const std::vector<Value*>& arguments, const std::string& where,
                     std::vector<Value*>* results);

  // The value of a tensor, made when it is a constant. Null with *error when it has none.
  Value* value_of(Scope& scope, std::string_view name, std::string* error);
  // The contents of a value of type shape; null when the name is none.
  const std::vector<int64_t>* shape_of(Scope& scope, std::string_view name);
  // The state of a variable, made when first named; null with *error when it cannot be.
  Value* variable(const Tensor& tensor, std::string* error);

  // False with *error when the model asks for far more computed bytes than its file could account for.
  bool take_bytes(uint64_t size, std::string* error);

 private:
  void problem(const std::string& where, const std::string& what, const std::string& advice = "");
  Value* add_input(ir::Method& method, const Tensor& t);
  bool find_inputs(const Region& main);
  bool import_operator(Scope& scope, size_t index);
  void check_outputs(Op& op, Scope& scope);
  void report(const Op& op, const Scope& scope, size_t index);
  Value* constant_of(const Tensor& tensor, std::string* error);

  const Model& model_;
  const ImportOptions& options_;
  ir::Graph& graph_;
  ir::Problems& problems_;
  std::map<const Tensor*, Value*> constants_;
  std::map<std::string_view, Value*> variables_;
  std::set<int> entered_;  // regions on the way to the present one
  uint64_t bytes_left_ = 0;
  int64_t operators_left_ = 400000;
};

}  // namespace mote::frontends::tosa
