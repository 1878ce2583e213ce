#pragma once

// Words for importers that write an ONNX operator as several of Mote's. All of them pass null on after an error.

#include "mote/compiler/frontends/onnx/importer.h"

namespace mote::frontends::onnx {

class Decompose {
 public:
  explicit Decompose(NodeContext& context) : c(context), b(context.b) {}
  // Writes through another builder, into the body of a loop. The caller hands that builder's error on.
  Decompose(NodeContext& context, ir::NodeBuilder& builder) : c(context), b(builder) {}

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
  Value* reshape(Value* x, const std::vector<int64_t>& dims);  // -1: what is left; 0 means size 0
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

  NodeContext& c;
  ir::NodeBuilder& b;
};

// Sizes of a window over 1 to 3 spatial dimensions, as Mote's attribute structs have them.
struct WindowSpec {
  int rank = 0;
  int32_t kernel[3] = {1, 1, 1}, strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, begin[3] = {}, end[3] = {};
};
// Reads strides, dilations, pads and auto_pad for x (N, C, spatial...). False after fail().
bool read_window(NodeContext& c, const Value* x, const std::vector<int64_t>& kernel, WindowSpec* out);
// Reads strides, dilations and kernel only.
bool read_steps(NodeContext& c, int spatial, const std::vector<int64_t>& kernel, WindowSpec* out);
// True when dimension `axis` has one size only.
bool is_fixed(const Value* v, int axis);

template <class A>
void set_window(const WindowSpec& w, A* a) {
  for (int i = 0; i < 3; ++i) {
    a->strides[i] = w.strides[i];
    a->dilations[i] = w.dilations[i];
    a->pads_begin[i] = w.begin[i];
    a->pads_end[i] = w.end[i];
  }
}

// Axis counted from the front; fails the node when it is out of range.
int axis_of(NodeContext& c, int64_t axis, int rank);

}  // namespace mote::frontends::onnx
