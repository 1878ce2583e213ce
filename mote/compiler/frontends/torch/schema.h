#pragma once

// The serialized form of an exported program (torch._export.serde, major version 8), read from JSON into plain structs. Everything is
// checked here: what comes after may trust kinds and references to exist, not that names do.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mote/core/dtype.h"

namespace mote::frontends::torch {

// A number that is fixed, or an expression over symbols in sympy's notation ("Mul(Integer(2), Symbol('s77', integer=True))").
struct SymNumber {
  int64_t value = 0;
  std::string expression;  // empty: fixed
};

struct TensorMeta {
  DType dtype = DType::kNone;
  int scalar_type = 0;  // torch's number of the element type, for messages
  std::vector<SymNumber> sizes;
};

struct GraphDef;

// One argument or one element of a list.
struct Item {
  enum class Kind : uint8_t { kNone, kTensor, kSymbol, kInt, kFloat, kBool, kString, kDType };
  Kind kind = Kind::kNone;
  int64_t i = 0;  // of kInt, kBool, kDType (a DType)
  double f = 0;
  std::string text;  // name of kTensor and kSymbol; kString
};

struct Arg {
  enum class Kind : uint8_t { kNone, kOne, kList, kGraph, kIgnored, kUnknown };
  Kind kind = Kind::kNone;
  std::vector<Item> items;                // one for kOne
  std::shared_ptr<const GraphDef> graph;  // of kGraph
  std::string type;                       // as the schema calls it ("as_complex"), for messages
};

struct NamedArg {
  std::string name;
  Arg arg;
};

struct NodeDef {
  std::string target;  // "aten.conv2d.default", "_operator.mul", "higher_order.cond"
  std::string name;
  std::vector<NamedArg> inputs;
  std::vector<Item> outputs;  // lists of tensors flattened
  std::string module;         // path of the module it stands in: "layer1.0.conv"
  std::string line;           // of the user's model: "/path/model.py:12"

  const Arg* find(std::string_view argument) const;
};

struct GraphDef {
  std::vector<Arg> inputs, outputs;
  std::vector<NodeDef> nodes;
  std::unordered_map<std::string, TensorMeta> tensors;
  std::unordered_map<std::string, SymNumber> symbols;
};

struct InputSpec {
  enum class Kind : uint8_t { kUser, kParameter, kBuffer, kConstant, kLiteral, kToken, kObject };
  Kind kind = Kind::kUser;
  std::string name;    // of the placeholder
  std::string target;  // of parameters, buffers and constants
  Item literal;
  bool symbolic = false;  // a user input that is a number
};

struct OutputSpec {
  enum class Kind : uint8_t { kUser, kBuffer, kUserInput, kParameter, kToken, kOther };
  Kind kind = Kind::kUser;
  Item value;
  std::string target;  // what is written to
};

struct Range {
  int64_t min = 0, max = 0;
  bool bounded = false;  // max is given
};

struct ProgramDef {
  GraphDef graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<std::string> output_names;  // of the user outputs; empty: those of their nodes
  std::map<std::string, Range> ranges;
  std::string torch_version;
};

// Mote's type for torch's serialized ScalarType; kNone when there is none. And torch's name, for messages.
DType to_dtype(int scalar_type);
std::string scalar_type_name(int scalar_type);

// False with *error when the text is no such program.
bool read_program(std::string_view json, ProgramDef* out, std::string* error);

// The tensors of data/weights or data/constants: what their configuration file says.
struct PayloadDef {
  std::string name, path;
  bool pickled = false;
  TensorMeta meta;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};
bool read_payloads(std::string_view json, std::vector<PayloadDef>* out, std::string* error);

}  // namespace mote::frontends::torch
