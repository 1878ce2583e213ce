#pragma once

// How one ONNX operator becomes Mote operators. Importers are registered by (domain, operator) in the tables of *_ops.cc; the driver
// (import.cc) walks the nodes, gives each importer its NodeContext, and collects what they refuse.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/ir/infer.h"
#include "onnx.pb.h"

namespace mote::frontends::onnx {

class Importer;  // scopes, subgraphs, functions: import.h
struct Scope;

// What a name of the model stands for. Sequences and optionals exist at import time only: lists of values, or nothing. How many elements
// a sequence has may be known only when running; then it is one of
// - a list of which the first `length` count (what lies behind them is of no meaning),
// - one tensor, its elements along a first axis: what a loop has appended trip by trip.
struct Entity {
  enum class Kind : uint8_t { kAbsent, kTensor, kSequence, kEmptyOptional, kPoisoned };
  Kind kind = Kind::kAbsent;
  Value* value = nullptr;                           // of kTensor; of kSequence when stacked
  std::shared_ptr<const std::vector<Entity>> list;  // of kSequence, null when stacked
  Value* length = nullptr;                          // of a list: a scalar s64; null: all of it
  size_t least = 0;                                 // with a length: so many elements count in any case
  int grows_from = 0;                               // in a loop's body: `list` comes behind what earlier trips appended; 0: it does not
  int element = 0;  // the ONNX type whose codes the value holds, where no DType stands for that type (narrow.h)

  static Entity tensor(Value* v, int element = 0) { return {Kind::kTensor, v, nullptr, nullptr, 0, 0, element}; }
  static Entity sequence(std::vector<Entity> items, Value* length = nullptr);
  static Entity stacked(Value* v, int element = 0) { return {Kind::kSequence, v, nullptr, nullptr, 0, 0, element}; }
  static Entity empty_optional() { return {Kind::kEmptyOptional, nullptr, nullptr}; }
  static Entity poisoned() { return {Kind::kPoisoned, nullptr, nullptr}; }
  bool is(Kind k) const { return kind == k; }
  bool is_stacked() const { return kind == Kind::kSequence && list == nullptr; }
};

// One node while it is imported. Operators are added through `b`. An importer sets every output it can and calls fail() otherwise.
// After an error b returns null: ask rank()/dims() below rather than the value, or b.ok().
class NodeContext {
 public:
  NodeContext(Importer& importer_, Scope& scope_, const ::onnx::NodeProto& proto_, int opset_, ir::NodeBuilder builder)
      : importer(importer_), scope(scope_), proto(proto_), opset(opset_), b(std::move(builder)) {}

  Importer& importer;
  Scope& scope;
  const ::onnx::NodeProto& proto;
  int opset;  // version of the node's domain
  ir::NodeBuilder b;

  // Null when absent or empty-named.
  Value* in(int i) const { return i >= 0 && i < inputs_given() ? inputs[static_cast<size_t>(i)] : nullptr; }
  int inputs_given() const { return static_cast<int>(inputs.size()); }
  // True when something reads output i.
  bool wants(int i) const;
  void out(int i, Value* value, int element = 0);  // element: as Entity has it
  // What the model declares of output i (kDimUnknown where it does not say).
  std::optional<ir::Type> declared(int i) const;

  // Attributes, with the default where absent.
  const ::onnx::AttributeProto* attr(const char* name) const;
  int64_t attr_int(const char* name, int64_t otherwise) const;
  float attr_float(const char* name, float otherwise) const;
  std::string attr_string(const char* name, const std::string& otherwise) const;
  std::vector<int64_t> attr_ints(const char* name, const std::vector<int64_t>& otherwise = {}) const;
  std::vector<float> attr_floats(const char* name) const;

  // Integers from input i (opsets that moved attributes to inputs) or from the attribute, when known at compile time.
  // False: the input is there and only running tells.
  bool ints(int input, const char* attribute, std::vector<int64_t>* out) const;
  // A tensor of the model (an attribute's) as a constant; null after fail().
  Value* constant(const ::onnx::TensorProto& tensor);

  // Refuses the node: why, and what to do.
  void fail(const std::string& what, const std::string& advice = "");
  // Gives up without a word: what went wrong has been reported already, by the nodes of a subgraph.
  void give_up() { given_up = true; }

  std::vector<Value*> inputs;
  std::vector<Value*> outputs;      // set by out()
  std::vector<int> elements;        // of them
  std::vector<int> inner_elements;  // of what import_as() gave last
  std::vector<Entity> operands;     // inputs, sequences and optionals included
  std::vector<Entity> results;      // what importers of sequences set instead of out()
  std::string advice;
  bool refused = false;  // by fail(), not by an operator that rejected its operands
  bool given_up = false;
};

// Mote's type for an ONNX TensorProto.DataType; kNone when there is none. And its name in ONNX, for messages.
DType to_dtype(int onnx_type);
std::string onnx_type_name(int onnx_type);

using ImportFn = void (*)(NodeContext&);
struct OpImporter {
  const char* name;
  ImportFn import;
  int since = 1;           // the opset from which this meaning holds; of several lines for an operator the last one not newer counts
  int inputs = 1;          // how many of the first inputs must be there, as tensors
  bool sequences = false;  // reads `operands` and sets `results`: takes sequences and optionals
};

// One function per family file (elementwise_ops.cc, move_ops.cc, reduce_ops.cc, nn_ops.cc, recurrent_ops.cc, quant_ops.cc, control_ops.cc,
// signal_ops.cc, ml_ops.cc for ai.onnx.ml, contrib_ops.cc for com.microsoft): the lines it adds to the table.
using OpTable = std::map<std::string, std::vector<OpImporter>>;  // "Conv", or "com.microsoft.FusedConv"

}  // namespace mote::frontends::onnx
