#pragma once

// How one TensorFlow Lite operator becomes Mote operators. builtin_ops.def names an importer for each builtin operator; the driver
// (import.h) walks the operators, gives each importer its Op and collects what they refuse.

#include <string>
#include <vector>

#include "mote/compiler/frontends/tflite/model.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/infer.h"

namespace mote::frontends::tflite {

using fb::ActivationFunctionType;
using fb::BuiltinOperator;
using ir::Dims;
using ir::Value;

class Importer;
struct Scope;

// One operator while it is imported. Nodes are added through `b`. An importer sets every output or calls fail(); after an error b and
// the functions here return null or empty things, so that importers need few checks of their own.
class Op {
 public:
  Op(Importer& importer, Scope& scope, const Operator& source, ir::Block& block, const std::string& name);

  Importer& importer;
  Scope& scope;
  const Operator& source;
  ir::NodeBuilder b;

  BuiltinOperator code() const { return source.code; }
  uint32_t inputs() const { return source.inputs(); }
  uint32_t outputs() const { return source.outputs(); }
  bool has(uint32_t i) const { return i < inputs() && source.table->inputs()->Get(i) >= 0; }
  // What the file says of an operand; an empty description when it is absent.
  const Tensor& in(uint32_t i) const;
  const Tensor& out(uint32_t i = 0) const;
  const Tensor* intermediate(uint32_t i) const;  // null when absent
  DType type_in(uint32_t i) const { return in(i).dtype; }
  bool is_float(uint32_t i) const { return in(i).dtype == DType::f32 || in(i).dtype == DType::f16 || in(i).dtype == DType::bf16; }

  // The value of input i; null when absent. 4-bit constants are unpacked to s8, unless `packed`.
  Value* value(uint32_t i, bool packed = false);
  // Its elements as integers when they are known. False when absent or only running tells.
  bool ints(uint32_t i, std::vector<int64_t>* out);
  // The same, and fails the operator when they are not known.
  bool need_ints(uint32_t i, const char* what, std::vector<int64_t>* out);

  // Fails the operator unless all these inputs are there.
  bool need(const std::vector<uint32_t>& inputs);

  void set(uint32_t i, Value* value);
  void set(Value* value) { set(0, value); }

  // The table of builtin options, or an empty one when the file leaves it out (all defaults).
  template <class T>
  const T& options() const {
    alignas(4) static const uint8_t kEmpty[] = {4, 0, 4, 0, 4, 0, 0, 0};  // a vtable without fields, then a table that points back to it
    const T* t = source.table->builtin_options_as<T>();
    return t != nullptr ? *t : *reinterpret_cast<const T*>(kEmpty + 4);
  }

  // Refuses the operator.
  void fail(const std::string& what, const std::string& advice = "");
  bool ok() const { return b.ok(); }
  const std::string& advice() const { return advice_; }
  const std::vector<Value*>& results() const { return results_; }

 private:
  std::vector<Value*> results_;
  std::string advice_;
};

// Advice where a size must be known when compiling: the open sizes of the inputs behind `x`, as they can be typed.
std::string fix_advice(const Op& op, const Value& x);

inline bool is_8_or_16_bits(DType t) { return t == DType::s8 || t == DType::u8 || t == DType::s16; }
// Whether the operator computes in integers, by its first input.
inline bool quantized(const Op& op) { return op.in(0).quant.present() && is_8_or_16_bits(op.type_in(0)); }

// Complex numbers are values with a last dimension of two, which the file's tensors do not have (complex_ops.cc).
bool is_complex(const Tensor& t);

using ImportFn = void (*)(Op&);
#define MOTE_TFLITE_OP(code, function, inputs) void function(Op&);
#include "mote/compiler/frontends/tflite/builtin_ops.def"
#undef MOTE_TFLITE_OP

struct OpImporter {
  ImportFn import = nullptr;  // null: there is none
  uint32_t inputs = 0;        // how many of the first inputs must be there
};
OpImporter find_importer(const Operator& source);

// Why a builtin operator is not read, and what to do instead.
struct Refusal {
  const char *why, *advice;
};
Refusal why_refused(BuiltinOperator code);

// "f32 (1, 224, 224, 3)", for messages.
std::string describe(const Tensor& t);

}  // namespace mote::frontends::tflite
