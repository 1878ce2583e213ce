#pragma once

// How one operator of an exported graph becomes Mote operators. Importers are registered by name and overload in the tables of *_ops.cc;
// the driver (import.cc) walks the nodes, gives each importer its Op, and collects what they refuse.

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/torch/schema.h"
#include "mote/compiler/ir/infer.h"

namespace mote::frontends::torch {

class Importer;
struct Scope;

// A size or position: known now, or a scalar s64 that only running tells.
struct Size {
  int64_t known = 0;
  Value* running = nullptr;
};

// One node while it is imported. Arguments are found by the names of the operator's schema; what the exporter left out has its default.
// After an error the words give null: ask rank_of()/dims_of() rather than the value, or b.ok().
class Op : public Words {
 public:
  Op(Importer& importer_, Scope& scope_, const NodeDef& node_, ir::NodeBuilder& builder)
      : Words(builder), importer(importer_), scope(scope_), node(node_) {}

  // An argument is there and is not None.
  bool has(const char* name) const;
  Value* tensor(const char* name);  // null when None
  // A tensor that must be there.
  Value* in(const char* name);
  std::vector<Value*> tensors(const char* name);  // null for each None
  int64_t integer(const char* name, int64_t otherwise);
  double real(const char* name, double otherwise);
  bool flag(const char* name, bool otherwise);
  std::string text(const char* name, const std::string& otherwise);
  std::vector<int64_t> integers(const char* name, const std::vector<int64_t>& otherwise = {});
  std::vector<double> reals(const char* name);
  Size size(const char* name, int64_t otherwise);
  std::vector<Size> sizes(const char* name);
  DType dtype(const char* name, DType otherwise) const;
  // A number as a scalar of that type; integers stay exact.
  Value* scalar(const char* name, DType dtype);
  // A tensor or a number: as a value, of torch's own type for a number (s64, f64, bool).
  Value* operand(const char* name);
  bool is_number(const char* name) const;

  // Axes counted from 0; a tensor of rank 0 counts as rank 1, as torch has it.
  int axis(const char* name, int64_t otherwise, int rank);
  int axis_of(int64_t axis, int rank);
  std::vector<int64_t> axes(const char* name, int rank);  // empty when absent

  // What the exporter says of output i.
  const TensorMeta* meta(size_t i = 0) const;
  DType out_type(size_t i = 0) const;
  int out_rank(size_t i = 0) const;
  // True when something reads output i.
  bool wants(size_t i) const;
  void out(Value* value) { out(0, value); }
  void out(size_t i, Value* value);

  // The element type torch computes in when these operands meet: tensors with dimensions go before scalars, and those before numbers.
  DType promote(std::initializer_list<const char*> names);

  // Whether a size of x, and with it the result, can be told now.
  Value* shape_vector(const std::vector<Size>& sizes);  // s64
  Value* reshape_to(Value* x, const std::vector<Size>& sizes);
  Value* expand_to(Value* x, const std::vector<Size>& sizes);
  std::vector<Size> sizes_of(Value* x);
  Size size_at(Value* x, int axis);
  Value* as_scalar(const Size& size);
  // Writes an output whose size may depend on data: what the exporter says of output i bounds it.
  template <class Make>
  Value* bounded(size_t i, Make make) {
    if (const TensorMeta* m = meta(i); m != nullptr) b.declare({declared_type(*m)});
    Value* v = make();
    b.declare({});
    return v;
  }

  // Refuses the node; what to do.
  void refuse(const std::string& what, const std::string& with_advice = "");
  void fail(const std::string& why) override { refuse(why); }

  Importer& importer;
  Scope& scope;
  const NodeDef& node;
  std::vector<Value*> outputs;
  std::string advice;
  bool given_up = false;  // what went wrong has been reported already, by the nodes of a subgraph

 private:
  const Item* item(const char* name) const;
  std::optional<ir::Type> declared_type(const TensorMeta& meta) const;
  bool known_item(const Item& item, int64_t* i, double* f, bool* is_float);
  Size item_size(const Item& item);
  Value* value_of(const Item& item);
};

// A size of v at its bound; 0 where there is no such axis.
int32_t dim_of(const Value* v, int axis);

// promoteTypes of torch: what a and b become when they meet.
DType promote_types(DType a, DType b);
bool is_float(DType t);
bool is_integral(DType t);  // not bool

using ImportFn = void (*)(Op&);

// A line of the table: an operator with the overloads that this importer takes, and the element types (of the first tensor) it is right
// for. Without a function it is refused, for the reason given.
struct OpLine {
  const char* name;       // "aten.add"
  const char* overloads;  // "Tensor Scalar"
  ImportFn import;
  DTypeMask types = kFloat | kInt | mask_of(DType::boolean);
  const char* note = "";
};

// Lists of places that importers write out have at most this many: a small file must not ask for much memory.
constexpr int64_t kMostPlaces = int64_t{1} << 22;

constexpr DTypeMask kBool = mask_of(DType::boolean);
constexpr DTypeMask kAny = kFloat | kInt | kBool;
constexpr DTypeMask kReal = kFloat | kInt;

using OpTable = std::map<std::string, std::vector<OpLine>>;  // by operator, for the documentation
using OpIndex = std::map<std::string, const OpLine*>;        // by operator and overload: "aten.add.Tensor"
void add_lines(OpTable& table, std::initializer_list<OpLine> lines);
const OpTable& op_table();
const OpIndex& op_index();

}  // namespace mote::frontends::torch
