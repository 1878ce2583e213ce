#pragma once

// How one TOSA operator becomes Mote operators. ops.def names an importer for each; the driver (import.h) walks the operators, gives each
// importer its Op and collects what they refuse.

#include <string>
#include <vector>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/tosa/model.h"
#include "mote/compiler/ir/infer.h"

namespace mote::frontends::tosa {

using ir::Dims;
using ir::Value;

class Importer;
struct Scope;

// One operator while it is imported. Nodes are added through Words. An importer sets every output or calls fail(); after an error the
// functions here return null or empty things, so that importers need few checks of their own.
class Op : public Words {
 public:
  Op(Importer& importer, Scope& scope, const Operator& source, ir::NodeBuilder& builder);

  Importer& importer;
  Scope& scope;
  const Operator& source;

  fb::Op code() const { return source.code; }
  size_t inputs() const { return source.inputs.size(); }
  size_t outputs() const { return source.outputs.size(); }
  // What the file says of an operand; an empty description where there is none.
  const Tensor& in(size_t i) const;
  const Tensor& out(size_t i = 0) const;

  // The value of input i; fails the operator when it has none.
  Value* value(size_t i);
  // Input i where it must be known when compiling: a shape, or a constant tensor of integers.
  bool need_ints(size_t i, const char* what, std::vector<int64_t>* out, size_t least, size_t most);
  bool need_sizes(size_t i, const char* what, size_t count, std::vector<int64_t>* out) { return need_ints(i, what, out, count, count); }
  // The zero point in input i: one integer, or a float of 0.
  int64_t zero(size_t i, const char* what);
  // The list of an attribute, of exactly `count` numbers of at least `least`.
  bool list(const Vector<int32_t>* from, const char* what, uint32_t count, int32_t least, int32_t* to);
  // An axis of `rank`; 0 after an error.
  int axis(int32_t from, int rank);

  void set(size_t i, Value* value);
  void set(Value* value) { set(0, value); }
  void set_shape(std::vector<int64_t> values);  // output 0, of type shape

  // The operator's attributes, or defaults where the file leaves them out.
  template <class T>
  const T& attributes() const {
    alignas(4) static const uint8_t kEmpty[] = {4, 0, 4, 0, 4, 0, 0, 0};  // a vtable without fields, then a table that points back to it
    const T* t = source.table->attribute_as<T>();
    return t != nullptr ? *t : *reinterpret_cast<const T*>(kEmpty + 4);
  }

  // More words that several importers need.
  Value* constant_s32(const std::vector<int32_t>& values, const Dims& dims) { return b.graph().constant<int32_t>(dims, values); }
  Value* bitcast(Value* x, DType to);
  Value* clamp(Value* x, int64_t lo, int64_t hi);
  Value* shift_right(Value* x, int64_t count) { return count == 0 ? x : op(OpId::shift_right, {x, number(static_cast<double>(count), x)}); }
  Value* is_nan(Value* x) { return op(OpId::is_nan, {x}); }
  Value* where(Value* c, Value* x, Value* y) { return op(OpId::where, {c, x, y}); }

  void fail(const std::string& what) override { fail(what, ""); }
  void fail(const std::string& what, const std::string& advice);
  bool ok() const { return b.ok(); }
  const std::string& advice() const { return advice_; }
  const std::vector<Value*>& results() const { return results_; }

 private:
  std::vector<Value*> results_;
  std::string advice_;
};

inline bool is_float(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

using ImportFn = void (*)(Op&);
#define MOTE_TOSA_OP(code, function, inputs) void function(Op&);
#include "mote/compiler/frontends/tosa/ops.def"
#undef MOTE_TOSA_OP

struct OpImporter {
  ImportFn import = nullptr;  // null: there is none
  size_t inputs = 0;          // how many inputs must be there
};
OpImporter find_importer(fb::Op code);

}  // namespace mote::frontends::tosa
