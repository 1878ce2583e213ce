// Steps that several families take before their operator.

#include "tests/differential/draw.h"

namespace mote::differential {

using ::onnx::TensorProto;

ShapeFn same_as(const Value& v) {
  return [shapes = v.shapes](size_t s) { return shapes[s]; };
}

bool shaped(Draw& d, const Value& x, const Dims& dims, Value* y) {
  const int64_t have = count_of(x.dims()), want = count_of(dims);
  if (!x.is_static() || have == 0 || want == 0) return false;
  Value flat = x;
  const int n = static_cast<int>(have), m = static_cast<int>(want);
  if (x.rank() != 1 && !d.node("Reshape", {x.name, d.int64s({-1})}, x.type, x.most, fixed({n}), &flat)) return false;
  if (have < want && !d.node("Pad", {flat.name, d.int64s({0, want - have})}, x.type, x.most, fixed({m}), &flat)) return false;
  if (have > want && !d.node("Slice", {flat.name, d.int64s({0}), d.int64s({want})}, x.type, x.most, fixed({m}), &flat)) return false;
  return d.node("Reshape", {flat.name, d.int64s({dims.begin(), dims.end()})}, x.type, x.most, fixed(dims), y);
}

bool any_shaped(Draw& d, const Dims& dims, Value* y, bool raw) {
  const Value* p = d.any([&](const Value& v) {
    return v.type == d.real && v.is_static() && count_of(v.dims()) > 0 && v.most < 1e4f && (!raw || d.is_input(v));
  });
  if (p == nullptr) return false;
  const Value x = *p;
  if (x.dims() == dims) *y = x;
  else if (!shaped(d, x, dims, y)) return false;
  if (!raw) *y = d.in(*y);
  return true;
}

bool within(Draw& d, const Value& x, float most, Value* y) {
  Value squashed;
  if (!d.node("Tanh", {x.name}, x.type, 1, same_as(x), &squashed)) return false;
  return d.node("Mul", {squashed.name, d.scalar(most, x.type)}, x.type, most, same_as(x), y);
}

bool above(Draw& d, const Value& x, float least, Value* y) {
  Value positive;
  if (!d.node("Abs", {x.name}, x.type, x.most, same_as(x), &positive)) return false;
  return d.node("Add", {positive.name, d.scalar(least, x.type)}, x.type, x.most + least, same_as(x), y);
}

}  // namespace mote::differential
