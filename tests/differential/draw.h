#pragma once

// Drawing of a random ONNX graph, operator by operator. Every value carries its shape at all sizes of the open dimensions, and a bound of
// its magnitude: graphs overflow rarely, and models are legal at every size that is run.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/differential/case.h"
#include "tests/differential/choices.h"

namespace mote::differential {

struct Value {
  std::string name;
  Type type = ::onnx::TensorProto::FLOAT;
  std::vector<Dims> shapes;  // at each of Draw::samples
  float most = 1;            // magnitude
  bool used = false;
  bool closed = false;      // its sizes depend on data: nothing reads it, it is an output of the graph
  std::string scale, zero;  // of a value that comes out of DequantizeLinear
  float scale_value = 0;
  int zero_value = 0;
  Type code = ::onnx::TensorProto::INT8;

  int rank() const { return static_cast<int>(shapes[0].size()); }
  const Dims& dims() const { return shapes[0]; }  // at the bounds
  int dim(int axis) const { return shapes[0][static_cast<size_t>(axis)]; }
  bool open(int axis) const;  // the size of this axis depends on a symbol
  bool is_static() const;
  bool dequantized() const { return !scale.empty(); }
};

// Attributes of a node that is being made.
class Node {
 public:
  explicit Node(::onnx::NodeProto* p) : p_(p) {}
  Node& i(const char* name, int64_t v);
  Node& f(const char* name, float v);
  Node& s(const char* name, const std::string& v);
  Node& ints(const char* name, const std::vector<int64_t>& v);
  Node& floats(const char* name, const std::vector<float>& v);
  Node& strings(const char* name, const std::vector<std::string>& v);
  Node& tensor(const char* name, const ::onnx::TensorProto& v);
  Node& graph(const char* name, const ::onnx::GraphProto& v);
  Node& domain(const char* name);

 private:
  ::onnx::AttributeProto* add(const char* name, ::onnx::AttributeProto::AttributeType type);
  ::onnx::NodeProto* p_;
};

// The shape of a result from those of the operands at one sample. Empty optional dims are told by a first size below zero: illegal there.
using ShapeFn = std::function<Dims(size_t sample)>;
inline const Dims kIllegal = {-1};

class Draw {
 public:
  explicit Draw(Choices& choices) : c(choices) {}
  Case run();

  Choices& c;
  bool quantized = false;                  // operators stand between QuantizeLinear and DequantizeLinear
  Type real = ::onnx::TensorProto::FLOAT;  // FLOAT16 in graphs of that type
  std::vector<Value> values;

  // A value of the graph that the condition holds for, the last ones rather; null when there is none.
  const Value* any(const std::function<bool(const Value&)>& fits);
  const Value* any_real(int least_rank = 0, int most_rank = 8);

  // Makes a node. False (and no node) where a shape is illegal at too many sizes or too large.
  bool node(const char* op, const std::vector<std::string>& inputs, Type type, float most, const ShapeFn& shape, Value* out,
            const std::function<void(Node&)>& attributes = nullptr);
  // With one output of each shape.
  bool nodes(const char* op, const std::vector<std::string>& inputs, Type type, float most, const std::vector<ShapeFn>& shapes,
             std::vector<Value>* outs, const std::function<void(Node&)>& attributes = nullptr);
  // And of each type.
  bool mixed_nodes(const char* op, const std::vector<std::string>& inputs, const std::vector<Type>& types, float most,
                   const std::vector<ShapeFn>& shapes, std::vector<Value>* outs, const std::function<void(Node&)>& attributes = nullptr);
  // An operand as operators of this graph take it: in quantized graphs out of a DequantizeLinear.
  Value in(const Value& v);
  // A result: known from now on; in quantized graphs often quantized first. `like`: its numbers are those of this value.
  void push(Value v, const Value* like = nullptr);

  // Constants, as names of initializers.
  std::string reals(const Dims& dims, float most, float offset = 0);
  std::string scalar(float v, Type type);
  void set_floats(const std::string& name, const std::vector<float>& to);  // of a constant of reals()
  std::string int64s(const std::vector<int64_t>& v);
  std::string int64_scalar(int64_t v);
  std::string integers(Type type, const Dims& dims, int64_t low, int64_t high);  // random ones
  // Of a convolution or product: numbers, or in quantized graphs codes behind DequantizeLinear, for each channel of `axis` or all.
  std::string weights(const Dims& dims, int axis, float most, float* scale);
  std::string bias(int count, int products, const Value& x, float weight_scale);

  // Sizes that kernels see tails of.
  int channels();
  int extent();

  // Operators of a newer operator set than the usual one.
  void need_opset(int version) { opset_ = std::max(opset_, version); }
  // A value that is drawn: of an input of the graph, exactly what every kernel is given.
  bool is_input(const Value& v) const { return v.name[0] == 'x'; }

  std::string fresh(const char* stem) { return stem + std::to_string(names_++); }
  size_t samples() const { return sizes_.size(); }
  Value quantize(const Value& v, const Value* like = nullptr);

 private:
  void profile();
  void draw_symbols();
  void add_input();
  void finish();
  void drop_unused_symbols();
  ::onnx::TensorProto* initializer(const std::string& name, Type type, const Dims& dims);

  Case out_;
  ::onnx::GraphProto* graph_ = nullptr;
  std::vector<Symbol> symbols_;
  std::vector<Dims> sizes_;
  std::vector<bool> legal_;  // of the sizes
  std::vector<std::vector<int>> input_symbols_;
  int names_ = 0, opset_ = 21;
  Type code_ = ::onnx::TensorProto::INT8;  // that most values are quantized to
};

// One operator, or a pattern of several: false when no value of the graph suits it.
using DrawFn = bool (*)(Draw&);
struct Line {
  DrawFn draw;
  int weight;
};
enum Family : uint8_t {
  kElements,
  kMoves,
  kIndices,
  kWindows,
  kProducts,
  kNorms,
  kIntegers,
  kPatterns,
  kFunctions,  // operators that few models have
  kControl,    // subgraphs, sequences, optionals
  kVision,
  kContrib,  // com.microsoft
  kClassic,  // ai.onnx.ml, training
  kFamilies
};
const std::vector<Line>& family_lines(Family f);

// Helpers of the families.
int64_t count_of(const Dims& dims);
Dims broadcast(const Dims& a, const Dims& b);  // kIllegal where they do not go together
bool is_int(Type t);
ShapeFn same_as(const Value& v);
inline ShapeFn fixed(Dims dims) {
  return [dims = std::move(dims)](size_t) { return dims; };
}
// The elements of a static value in another shape: the first ones, or with zeros behind them. False where there is none to begin with.
bool shaped(Draw& d, const Value& x, const Dims& dims, Value* y);
// A static value of the graph (of the type of its real numbers) in this shape; in quantized graphs behind DequantizeLinear. The same value
// as it is where `raw`: nothing between it and an input of the graph rounds.
bool any_shaped(Draw& d, const Dims& dims, Value* y, bool raw = false);
// op(x) + a number, or x within (-most, most): for operators with poles.
bool within(Draw& d, const Value& x, float most, Value* y);
bool above(Draw& d, const Value& x, float least, Value* y);

}  // namespace mote::differential
