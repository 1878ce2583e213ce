#pragma once

// The driver: walks the nodes of exported programs, block by block, and asks the importer of each operator. Private to this front end.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mote/compiler/frontends/torch/alias.h"
#include "mote/compiler/frontends/torch/op.h"
#include "mote/compiler/frontends/torch/torch.h"

namespace mote::frontends::torch {

// The names of one graph, and what they stand for.
struct Scope {
  const GraphDef* graph = nullptr;
  ir::Block* block = nullptr;
  int depth = 0;
  std::unordered_map<std::string, Value*> names;  // null: could not be imported
  std::unordered_set<std::string> needed;         // names that live nodes and outputs read
  std::vector<bool> live;                         // nodes that lead to outputs or change a tensor
  Aliases aliases;

  // From the outputs' names in `needed`: every name that counts, and the live nodes.
  void find_live();
  Value* find(const std::string& name) const;
  bool knows(const std::string& name) const { return names.count(name) != 0; }
  bool needs(const std::string& name) const { return needed.count(name) != 0; }
  const TensorMeta* meta(const std::string& name) const;
};

// The size of an input; where symbols[i] >= 0 dimension i is that symbol and the size its bound.
struct InputShape {
  ir::Dims dims;
  std::vector<int> symbols;  // -1 where the size is fixed
};

class Importer {
 public:
  Importer(const ExportedModel& model, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems)
      : model_(model), options_(options), graph_(graph), problems_(problems) {}

  // Fills the graph; what was refused is in `problems`.
  void run();

  // --- for importers of control flow ---
  // Writes a subgraph into a block: its inputs are `arguments`. False after problems.
  bool import_body(const Scope& around, const GraphDef& body, ir::Block& block, const std::vector<Value*>& arguments,
                   std::vector<Value*>* results);
  ir::Graph& graph() { return graph_; }
  int64_t max_trips() const { return options_.max_trips; }
  // Rank and bounds of a tensor as the exporter saw them; kDimUnknown where symbols are open.
  std::optional<ir::Type> declared_type(const TensorMeta& meta) const;
  void problem(const std::string& where, const std::string& what, const std::string& advice = "");
  // Runs the importer of another operator on a node; what that sets are the values. Empty after an error.
  std::vector<Value*> import_as(Op& op, const NodeDef& node);

 private:
  // One exported program on its way to a method.
  struct Part {
    const ExportedMethod* exported = nullptr;
    ProgramDef program;
    std::map<std::string, Range> ranges;  // of symbols, --dim applied
    std::map<std::string, InputShape> shapes;
    std::unordered_set<std::string> written;  // placeholders whose tensors the program changes
  };

  bool read_parts(std::vector<Part>* parts);
  void import_part(const Part& part);
  bool add_inputs(const Part& part, ir::Method& method, Scope& scope);
  bool add_input(const Part& part, const InputSpec& spec, ir::Method& method, Scope& scope);
  const size_t* index_of(const Part& part, const InputSpec& spec);
  Value* parameter(const Part& part, const InputSpec& spec);
  void add_outputs(const Part& part, ir::Method& method, Scope& scope);
  void write_back(const Part& part, ir::Method& method, Scope& scope);
  Value* output_value(const Item& item, Scope& scope);
  void import_nodes(Scope& scope);
  bool import_node(const NodeDef& node, Scope& scope);
  bool import_custom(const NodeDef& node, Scope& scope);
  // With --partial: a custom operator in place of a node that was refused; false where that cannot be, with the reason in its problem.
  bool leave_to_user(const NodeDef& node, Scope& scope, size_t problems, size_t nodes);
  bool call_importer(const NodeDef& node, const OpLine& line, Scope& scope);
  bool call_importer(const NodeDef& node, const std::function<void(Op&)>& import, Scope& scope);
  bool operands_known(const NodeDef& node, const Scope& scope);
  static void poison(const NodeDef& node, Scope& scope);

  const ExportedModel& model_;
  const ImportOptions& options_;
  ir::Graph& graph_;
  ir::Problems* problems_;
  const std::map<std::string, Range>* ranges_ = nullptr;   // of the part being imported
  std::unordered_map<size_t, Value*> constants_, states_;  // by index into model_.tensors
  uint64_t copied_ = 0, largest_ = 0;   // bytes of tensors that do not lie in the file as they are; of the largest source
  std::unordered_set<size_t> written_;  // tensors that some method writes to
  size_t node_count_ = 0;
};

// The names whose tensors a graph changes in place, also through views; of placeholders only these count.
std::unordered_set<std::string> changed_names(const GraphDef& graph);

// Whether the operator changes its first argument: "aten.add_.Tensor". *functional: the one that does not, "aten.add.Tensor".
bool is_in_place(const std::string& target, std::string* functional);

// Sizes of a method's inputs: what the program, --shape and --dim say. Adds the symbols. False after problems (open dimensions).
bool resolve_inputs(const ProgramDef& program, const ImportOptions& options, const std::string& method, ir::Graph& graph,
                    ir::Problems* problems, std::map<std::string, Range>* ranges, std::map<std::string, InputShape>* out);

// Options that name nothing in the programs are mistakes worth telling.
void check_option_names(const std::vector<const ProgramDef*>& programs, const ImportOptions& options, ir::Problems* problems);

// The tensor as a constant's bytes, dense and row-major. False with *error when its elements do not lie inside its bytes.
constexpr uint64_t kMostRepeats = 64, kMostCopied = 256u << 20;  // of a tensor's bytes; of all tensors besides
bool dense_bytes(const TensorData& tensor, ir::Dims* dims, ir::Bytes* out, std::string* error);

}  // namespace mote::frontends::torch
