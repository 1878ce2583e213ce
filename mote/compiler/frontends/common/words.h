#pragma once

// Words for importers that write an operator of a model as several of Mote's. All of them pass null on after an error.

#include <string>
#include <vector>

#include "mote/compiler/ir/builder.h"

namespace mote::frontends {

using ir::Value;

// Rank, sizes (at their bounds) and element type; of nothing where v is null, which it is after an error.
int rank_of(const Value* v);
const ir::Dims& dims_of(const Value* v);
DType dtype_of_value(const Value* v);
// True when dimension `axis` has one size only.
bool is_fixed(const Value* v, int axis);

class Words {
 public:
  explicit Words(ir::NodeBuilder& builder) : b(builder) {}
  virtual ~Words() = default;

  // A scalar of that element type.
  Value* number(double v, DType dtype);
  Value* number(double v, const Value* like) { return number(v, dtype_of_value(like)); }
  Value* ints(const std::vector<int64_t>& values);  // a vector of s64

  Value* add(Value* x, Value* y) { return op(OpId::add, {x, y}); }
  Value* sub(Value* x, Value* y) { return op(OpId::sub, {x, y}); }
  Value* mul(Value* x, Value* y) { return op(OpId::mul, {x, y}); }
  Value* div(Value* x, Value* y) { return op(OpId::div, {x, y}); }
  Value* add(Value* x, double v) { return v == 0 ? x : add(x, number(v, x)); }
  Value* mul(Value* x, double v) { return v == 1 ? x : mul(x, number(v, x)); }
  Value* div(Value* x, double v) { return v == 1 ? x : div(x, number(v, x)); }
  Value* pow(Value* x, double v) { return op(OpId::pow, {x, number(v, x)}); }
  Value* sqrt(Value* x) { return op(OpId::sqrt, {x}); }
  Value* op(OpId id, const std::vector<Value*>& inputs) { return b.ok() ? b.op(id, inputs) : nullptr; }

  Value* matmul(Value* x, Value* y, bool transpose_x = false, bool transpose_y = false, float alpha = 1, Value* bias = nullptr);
  Value* reduce(OpId id, Value* x, const std::vector<int64_t>& axes, bool keep = true);
  Value* softmax(Value* x, int axis);
  Value* concat(const std::vector<Value*>& parts, int axis);
  Value* slice(Value* x, int axis, int64_t begin, int64_t end, int64_t step = 1);
  Value* gather(Value* x, Value* indices, int axis);
  Value* pad(Value* x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end, float value = 0);
  Value* expand(Value* x, const std::vector<int64_t>& dims);
  Value* reshape(Value* x, const std::vector<int64_t>& dims);  // -1: inferred; 0 means size 0
  Value* squeeze(Value* x, const std::vector<int64_t>& axes) { return x == nullptr ? nullptr : b.squeeze(x, axes); }
  Value* unsqueeze(Value* x, const std::vector<int64_t>& axes) { return x == nullptr ? nullptr : b.unsqueeze(x, axes); }
  Value* transpose(Value* x, const std::vector<int>& perm);
  Value* cast(Value* x, DType to) { return x == nullptr ? nullptr : b.cast(x, to); }
  Value* shape_of(Value* x);           // s64
  Value* size_of(Value* x, int axis);  // a vector of one s64
  Value* fill(double v, DType dtype, Value* shape);

  // (N, C, spatial...) to (N, spatial..., C) and back; what has rank 2 or less stays.
  Value* channels_last(Value* x);
  Value* channels_first(Value* x);

  // Refuses what is being imported.
  virtual void fail(const std::string& why) { b.fail(why); }

  ir::NodeBuilder& b;

 private:
  bool copy_dims(const std::vector<int64_t>& from, int32_t* to);
};

}  // namespace mote::frontends
