#pragma once

// The driver: walks a model's nodes, block by block, and asks the importer of each operator. Private to this front end, except that
// importers of control flow and sequences use it too.

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mote/compiler/frontends/frontend.h"
#include "mote/compiler/frontends/onnx/importer.h"
#include "mote/compiler/frontends/onnx/narrow.h"
#include "mote/compiler/frontends/onnx/tensor.h"
#include "mote/compiler/frontends/onnx/texts.h"

namespace mote::frontends::onnx {

// Operator sets of ai.onnx whose operators are known here. Older ones mostly mean the same; what does not is refused (broadcasts_along()).
constexpr int kOldestOpset = 7, kNewestOpset = 28;

using Opsets = std::map<std::string, int>;  // by domain; "" is ONNX's own
using NameSet = std::unordered_set<std::string>;

// The names that a graph or function body may use, and what they stand for.
struct Scope {
  const Scope* outer = nullptr;  // of a subgraph: where it stands. Functions see nothing around them.
  const Opsets* opsets = nullptr;
  std::string prefix;  // of node names: the calls that led to a function
  ir::Block* block = nullptr;
  int depth = 0;
  std::unordered_map<std::string, Entity> names;
  std::unordered_map<std::string, const ::onnx::TypeProto*> declared;
  std::unordered_map<std::string, const ::onnx::TypeProto*> bounds;  // of undeclared values: their sizes are at most these
  std::shared_ptr<const NameSet> used;                               // names that live nodes and outputs read
  std::shared_ptr<const std::map<std::string, const ::onnx::AttributeProto*>> attributes;  // what a function was called with

  const Entity* find(const std::string& name) const;
  // The attribute itself, or the one of the function call that it refers to; null when the call does not give it.
  const ::onnx::AttributeProto* resolve(const ::onnx::AttributeProto& a) const;
};

struct InputShape {
  ir::Dims dims;
  std::vector<int> symbols;  // -1 where the size is fixed
};

class Importer {
 public:
  Importer(std::shared_ptr<const ::onnx::ModelProto> model, const std::string& path, const ImportOptions& options, ir::Graph& graph,
           ir::Problems* problems);

  // Fills the graph; what was refused is in `problems`.
  void run();

  // Imports the body of a control node into `block`. `arguments`: one for each input of the body. False after a problem.
  bool import_body(Scope& around, const ::onnx::GraphProto& body, ir::Block& block, const std::vector<Entity>& arguments,
                   std::vector<Entity>* results);

  std::optional<ir::Type> declared_type(const Scope& scope, const std::string& name) const;
  // The type a proto declares; empty when it is no tensor of a type Mote has, or of unknown rank.
  std::optional<ir::Type> declared_type(const ::onnx::TypeProto& proto) const;

  // A tensor of the model as a constant, strings as places in the table of texts; null with *error.
  Value* make_constant(const ::onnx::TensorProto& tensor, const std::string& name, std::string* error);
  TensorReader& tensors() { return tensors_; }
  Texts& texts() { return *texts_; }
  const ImportOptions& options() const { return options_; }
  ir::Graph& graph() { return graph_; }
  // hard: no mere misfit of shapes, which only the branch of an If that is never taken may have.
  void problem(const std::string& where, const std::string& what, const std::string& advice = "", bool hard = true);
  size_t problem_count() const { return problems_->size(); }
  bool too_large() const { return too_large_; }  // more nodes than may be: that was reported
  size_t hard_problem_count() const { return hard_problems_; }
  // Takes back what was reported after the first `count`; the first of these is returned.
  ir::Problem take_back(size_t count);

 private:
  struct Call;  // one node on its way to an importer
  bool check_header();
  void read_metadata();
  void add_initializers(const ::onnx::GraphProto& g, Scope& scope);
  Value* spread(Value* constant, const NarrowType& type, ir::Block& block, std::string* error);
  void spread_result(Entity* e, ir::Block& block);
  void note_element(const char* kind, const std::string& name, int element);
  void add_inputs(const ::onnx::GraphProto& g, Scope& scope);
  Entity add_input(const ::onnx::ValueInfoProto& input, const InputShape& shape);
  void add_outputs(const ::onnx::GraphProto& g, Scope& scope);
  void add_output(const std::string& name, const Entity& e);
  void import_nodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, Scope& scope, const std::vector<bool>& live);
  void import_node(const ::onnx::NodeProto& n, Scope& scope);
  bool gather_operands(const ::onnx::NodeProto& n, Scope& scope, const std::string& where, std::vector<Entity>* out);
  bool call_function(const ::onnx::NodeProto& n, const ::onnx::FunctionProto& f, Scope& scope, const std::string& where,
                     const std::vector<Entity>& operands);
  bool call_importer(const ::onnx::NodeProto& n, const OpImporter& op, Scope& scope, const std::string& where,
                     const std::vector<Entity>& operands);
  // How far things were when a node's turn came.
  struct Mark {
    bool counts = false;  // it has a line in the graph's source_nodes
    size_t source = 0, problems = 0, hard = 0, nodes = 0;
  };
  Mark begin_node(const std::string& name, const std::string& key, const Scope& scope);  // name: empty for calls of functions
  // Its outputs cannot be had: marks the node where it is to blame itself, leaves it to the user or poisons them.
  void refuse(const ::onnx::NodeProto& n, const std::string& key, const std::string& where, Scope& scope, const Mark& before);
  // With --partial: a custom operator in place of a node that was refused; false where that cannot be, with the reason in its problem.
  bool leave_to_user(const ::onnx::NodeProto& n, const std::string& key, Scope& scope, size_t problems, size_t nodes);
  const OpImporter* find_importer(const std::string& key, int opset) const;
  const ::onnx::FunctionProto* find_function(const ::onnx::NodeProto& n) const;
  static void poison_outputs(const ::onnx::NodeProto& n, Scope& scope);

  std::shared_ptr<const ::onnx::ModelProto> model_;
  const ImportOptions& options_;
  ir::Graph& graph_;
  ir::Problems* problems_;
  TensorReader tensors_;
  std::unique_ptr<Texts> texts_;
  Opsets opsets_;
  std::map<std::string, const ::onnx::FunctionProto*> functions_;
  std::unordered_map<std::string, int32_t> fixed_dims_;  // sizes of named dimensions, or the bound of symbols
  bool trust_declared_ = true;                           // false when --shape changed sizes that the model states
  size_t node_count_ = 0;
  bool too_large_ = false;
  size_t hard_problems_ = 0;
};

// Which nodes lead to the outputs, and every name that these read.
std::vector<bool> find_live(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, NameSet* needed);

// Gives values of which the model says nothing the shape of what is computed from them element by element: a bound for their sizes.
void carry_back_declared(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, Scope* scope);

// Whether a name of --dim is VALUE.AXIS, the value an output of one of the model's nodes (in a function: behind the calls' names).
bool bounds_value(const ::onnx::ModelProto& model, const std::string& dim);

// Sizes of a graph's inputs: what the model, --shape and --dim say. Adds the symbols. False after problems (open dimensions).
struct InputShapes {
  std::vector<InputShape> of;  // one for each given input
  std::unordered_map<std::string, int32_t> bounds;
  bool overridden = false;  // --shape differs from sizes that the model states
};
bool resolve_inputs(const std::vector<const ::onnx::ValueInfoProto*>& inputs, const ImportOptions& options, ir::Graph& graph,
                    ir::Problems* problems, InputShapes* out);

// " (did you mean 'Conv'?)": an operator of the same domain that is written much like it.
std::string similar_op(const std::string& key);
// Whether a node reads texts. Most operators compute with numbers only and are refused then.
bool refuse_texts(NodeContext& c, const ::onnx::NodeProto& n);
// The outputs of a node that moves texts about are texts too.
void mark_texts(NodeContext& c);

// The lines of all *_ops.cc files.
const OpTable& op_table();

}  // namespace mote::frontends::onnx
