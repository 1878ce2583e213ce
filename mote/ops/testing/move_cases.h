#pragma once

// What the tests of operators that move elements share. Not for kernels.

#include "mote/ops/op_table.h"
#include "mote/ops/testing/harness.h"

namespace mote::optest {

// Numbers that mostly differ; floats begin with NaN, infinity and a negative zero.
inline Array sample(DType type, const Shape& shape, uint32_t seed) {
  Array a = Array::random(type, shape, seed, -100, 100);
  if ((mask_of(type) & kFloat) == 0) return a;
  const double special[] = {NAN, INFINITY, -0.0};
  for (int64_t i = 0; i < 3 && i + 1 < a.count(); ++i) a.set(i, special[i]);
  return a;
}

inline std::vector<DType> all_types() { return types_of(AllTypes{}); }

inline int32_t dtype_value(DType t) { return static_cast<int32_t>(t); }

// What infer() says when the values of some inputs cannot be read yet, as at compile time.
struct Inferred {
  Status status;
  std::vector<TensorType> types;
  Shape shape(size_t o = 0) const { return Shape(types[o].dims, types[o].dims + types[o].rank); }
};
template <class A>
Inferred infer_hidden(OpId op, const A& attrs, const std::vector<Array>& inputs, const std::vector<size_t>& hidden, int outputs = 1) {
  Inferred r;
  r.types.resize(static_cast<size_t>(outputs));
  r.status = infer_bytes(op, &attrs, inputs, hidden, &r.types);
  return r;
}
// The reason why an operator refuses its inputs, or kNone when it runs.
template <class A>
Why refusal(OpId op, const A& attrs, const std::vector<Array>& inputs, int outputs = 1) {
  return run(op, attrs, inputs, outputs).status.why();
}

inline RunOptions bounded(const std::vector<Shape>& bounds) {
  RunOptions o;
  o.outputs = static_cast<int>(bounds.size());
  o.bounds = bounds;
  return o;
}

inline Array s64(const std::vector<double>& values) { return Array::from(DType::s64, {static_cast<int32_t>(values.size())}, values); }
inline Array s32(const std::vector<double>& values) { return Array::from(DType::s32, {static_cast<int32_t>(values.size())}, values); }

}  // namespace mote::optest
