// Element-wise operators of floats and integers, comparisons, and what has several operands.

#include <algorithm>
#include <cmath>

#include "tests/differential/draw.h"

namespace mote::differential {
namespace {

using ::onnx::TensorProto;

ShapeFn shape_of(const Value& v) {
  return [shapes = v.shapes](size_t s) { return shapes[s]; };
}
ShapeFn broadcast_of(const Value& a, const Value& b) {
  return [x = a.shapes, y = b.shapes](size_t s) { return broadcast(x[s], y[s]); };
}

struct Unary {
  const char* name;
  float most_in;                // larger operands are left alone: results would overflow
  float (*most_out)(float in);  // null: the same
};
float one(float) { return 1; }
float zero_point_two(float v) { return v * 0.2f + 1; }
float more(float v) { return v + 1; }
float twice(float v) { return v * 2; }
float exponential(float v) { return std::exp(v); }

const Unary kUnary[] = {{"Relu", 1e9f, nullptr},
                        {"Sigmoid", 1e9f, one},
                        {"Tanh", 1e9f, one},
                        {"HardSigmoid", 1e9f, one},
                        {"HardSwish", 1e9f, nullptr},
                        {"LeakyRelu", 1e9f, nullptr},
                        {"Elu", 1e9f, more},
                        {"Selu", 1e9f, twice},
                        {"Celu", 1e9f, more},
                        {"Softplus", 1e9f, more},
                        {"Softsign", 1e9f, one},
                        {"Gelu", 1e9f, nullptr},
                        {"Mish", 1e9f, nullptr},
                        {"Abs", 1e9f, nullptr},
                        {"Neg", 1e9f, nullptr},
                        {"Exp", 6, exponential},
                        {"Erf", 1e9f, one},
                        {"Floor", 1e9f, more},
                        {"Ceil", 1e9f, more},
                        {"Round", 1e9f, more},
                        {"Sign", 1e9f, one},
                        {"Sin", 50, one},
                        {"Cos", 50, one},
                        {"Atan", 1e9f, twice},
                        {"Asinh", 1e9f, zero_point_two},
                        {"Sinh", 6, exponential},
                        {"Cosh", 6, exponential},
                        {"ThresholdedRelu", 1e9f, nullptr},
                        {"Shrink", 1e9f, nullptr},
                        {"Identity", 1e9f, nullptr}};

bool unary(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  const Unary& u = d.c.of(kUnary);
  const Value x = d.in(*p);
  const std::string name = u.name;
  if (x.most > u.most_in) return false;
  Value y;
  const float most = u.most_out != nullptr ? u.most_out(x.most) : x.most;
  const bool set = d.c.chance(40);
  if (!d.node(u.name, {x.name}, x.type, most, shape_of(x), &y, [&](Node& n) {
        if (!set) return;
        if (name == "LeakyRelu" || name == "Elu" || name == "Celu" || name == "ThresholdedRelu")
          n.f("alpha", 0.125f * static_cast<float>(1 + d.c.below(6)));
        if (name == "HardSigmoid") n.f("alpha", 0.25f).f("beta", 0.375f);
        if (name == "Gelu") n.s("approximate", "tanh");
        if (name == "Shrink") n.f("bias", 0.25f).f("lambd", 0.5f);
      }))
    return false;
  d.push(y, &x);
  return true;
}

// Those with poles: what they are given is made positive first.
bool positive(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  static const char* const ops[] = {"Sqrt", "Log", "Reciprocal"};
  const std::string op = d.c.of(ops);
  const Value x = d.in(*p);
  Value a, b, y;
  if (!d.node("Abs", {x.name}, x.type, x.most, shape_of(x), &a)) return false;
  if (!d.node("Add", {a.name, d.scalar(0.5f, x.type)}, x.type, x.most + 0.5f, shape_of(x), &b)) return false;
  if (!d.node(op.c_str(), {b.name}, x.type, op == "Sqrt" ? std::sqrt(b.most) : 2 + std::log(b.most + 1), shape_of(x), &y)) return false;
  d.push(y);
  return true;
}

bool clip(Draw& d) {
  const bool whole = d.c.chance(15);
  const Value* p = whole ? d.any([](const Value& v) {
    return v.type == TensorProto::INT32 || v.type == TensorProto::INT8 || v.type == TensorProto::UINT8;
  })
                         : d.any_real();
  if (p == nullptr) return false;
  const Value x = whole ? *p : d.in(*p);
  const float low = static_cast<float>(d.c.of({0, 0, 0, -1, -2, 1})), high = low + static_cast<float>(d.c.of({6, 1, 2, 20}));
  const uint32_t given = d.c.below(6);  // 4: no minimum, 5: no maximum
  const bool unsigned_low = x.type == TensorProto::UINT8 && low < 0;
  std::vector<std::string> in = {x.name, given == 4 ? "" : d.scalar(unsigned_low ? 0 : low, x.type)};
  if (given != 5) in.push_back(d.scalar(high, x.type));
  Value y;
  if (!d.node("Clip", in, x.type, x.most, shape_of(x), &y)) return false;
  d.push(y, &x);
  return true;
}

bool silu(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  const Value x = d.in(*p);
  Value s, y;
  if (!d.node(d.c.chance(30) ? "HardSigmoid" : "Sigmoid", {x.name}, x.type, 1, shape_of(x), &s)) return false;
  if (d.quantized && d.c.chance(60)) s = d.quantize(s);
  if (!d.node("Mul", {x.name, s.name}, x.type, x.most, shape_of(x), &y)) return false;
  d.push(y);
  return true;
}

// Sizes that broadcast with those of a value.
Dims partner(Draw& d, const Value& x) {
  Dims dims;
  for (int i = static_cast<int>(d.c.below(static_cast<uint32_t>(x.rank() + 1))); i < x.rank(); ++i)
    dims.push_back(x.open(i) || d.c.chance(45) ? 1 : x.dim(i));
  if (d.c.chance(4)) dims.insert(dims.begin(), static_cast<size_t>(std::max(0, x.rank() + 1 - static_cast<int>(dims.size()))), 2);
  return dims;
}

Value constant(Draw& d, const Value& x, const Dims& dims, float most, float offset) {
  Value v;
  v.type = x.type;
  v.shapes.assign(d.samples(), dims);
  v.most = most + std::fabs(offset);
  v.name = x.type == d.real ? d.reals(dims, most, offset) : d.integers(x.type, dims, x.type == TensorProto::UINT8 ? 0 : -9, 9);
  return v;
}

// Another value that broadcasts with x at every size, or a constant.
Value second(Draw& d, const Value& x, bool constant_only) {
  const Value* z = nullptr;
  if (!constant_only && d.c.chance(55)) {
    z = d.any([&](const Value& v) {
      if (v.type != x.type) return false;
      for (size_t s = 0; s < d.samples(); ++s)
        if (broadcast(v.shapes[s], x.shapes[s]) == kIllegal) return false;
      return true;
    });
  }
  return z != nullptr ? d.in(*z) : d.in(constant(d, x, partner(d, x), 1.5f, 0));
}

bool binary(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  static const char* const ops[] = {"Add", "Mul", "Sub", "Add", "Mul", "Div", "Min", "Max", "Pow", "Mod", "PRelu"};
  const std::string op = d.c.of(ops);
  const Value x = d.in(*p);
  Value z;
  if (op == "Div" || op == "Mod") z = constant(d, x, partner(d, x), 0.5f, d.c.chance(50) ? 1.5f : -1.5f);
  else if (op == "Pow")
    z.name = d.scalar(static_cast<float>(d.c.of({2, 3})), x.type), z.type = x.type, z.shapes.assign(d.samples(), {}), z.most = 1;
  else if (op == "PRelu") z = constant(d, x, partner(d, x), 0.5f, 0);
  else z = second(d, x, false);
  float most = std::max(x.most, z.most);
  if (op == "Add" || op == "Sub") most = x.most + z.most;
  if (op == "Mul") most = x.most * z.most;
  if (op == "Pow") most = x.most * x.most * x.most;
  if (op == "PRelu")
    for (size_t s = 0; s < d.samples(); ++s)
      if (broadcast(x.shapes[s], z.shapes[s]) != x.shapes[s]) return false;
  const bool turned = (op == "Add" || op == "Mul" || op == "Sub" || op == "Min" || op == "Max") && d.c.chance(30);
  Value y;
  if (!d.node(op.c_str(), {turned ? z.name : x.name, turned ? x.name : z.name}, x.type, most, broadcast_of(x, z), &y, [&](Node& n) {
        if (op == "Mod") n.i("fmod", 1);
      }))
    return false;
  d.push(y);
  return true;
}

bool variadic(Draw& d) {
  const Value* p = d.any_real();
  if (p == nullptr) return false;
  static const char* const ops[] = {"Sum", "Mean", "Max", "Min"};
  const std::string op = d.c.of(ops);
  const Value x = d.in(*p), z = second(d, x, false), w = second(d, x, true);
  Value y;
  if (!d.node(
          op.c_str(), {x.name, z.name, w.name}, x.type, x.most + z.most + w.most,
          [x, z, w](size_t s) {
            const Dims b = broadcast(x.shapes[s], z.shapes[s]);
            return b == kIllegal ? b : broadcast(b, w.shapes[s]);
          },
          &y))
    return false;
  d.push(y);
  return true;
}

bool compare(Draw& d) {
  const Value* p = d.any([&](const Value& v) { return v.type == d.real || v.type == TensorProto::INT32 || v.type == TensorProto::INT64; });
  if (p == nullptr) return false;
  static const char* const ops[] = {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
  const char* op = d.c.of(ops);
  const Value x = p->type == d.real ? d.in(*p) : *p;
  const Value z = second(d, x, true);
  Value y;
  if (!d.node(op, {x.name, z.name}, TensorProto::BOOL, 1, broadcast_of(x, z), &y)) return false;
  if (d.c.chance(60)) {  // what exporters make of it
    Value w;
    const Value other = second(d, x, true);
    const auto shape = [y, x, other](size_t s) {
      const Dims b = broadcast(y.shapes[s], x.shapes[s]);
      return b == kIllegal ? b : broadcast(b, other.shapes[s]);
    };
    if (d.node("Where", {y.name, x.name, other.name}, x.type, std::max(x.most, other.most), shape, &w)) {
      d.push(w);
      return true;
    }
  }
  d.push(y);
  return true;
}

bool logic(Draw& d) {
  const Value* p = d.any([](const Value& v) { return v.type == TensorProto::BOOL; });
  if (p == nullptr) return compare(d);
  const Value x = *p;
  Value y;
  const uint32_t kind = d.c.below(5);
  if (kind == 0) {
    if (!d.node("Not", {x.name}, x.type, 1, shape_of(x), &y)) return false;
  } else if (kind == 1) {
    if (!d.node("Cast", {x.name}, d.real, 1, shape_of(x), &y, [&](Node& n) { n.i("to", d.real); })) return false;
  } else {
    const Value* q = d.any([&](const Value& v) { return v.type == TensorProto::BOOL && v.shapes == x.shapes; });
    static const char* const ops[] = {"And", "Or", "Xor"};
    if (!d.node(ops[kind - 2], {x.name, q->name}, x.type, 1, shape_of(x), &y)) return false;
  }
  d.push(y);
  return true;
}

bool whole_numbers(Draw& d) {
  const Value* p = d.any([](const Value& v) { return is_int(v.type) && v.most < 1e7f; });
  if (p == nullptr) return false;
  const Value x = *p;
  static const char* const ops[] = {"Add",  "Sub", "Mul", "Max",        "Min",       "Abs",        "Neg",
                                    "Sign", "Div", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"};
  const uint32_t which = d.c.below(14);
  const std::string op = ops[which];
  const bool narrow = x.type == TensorProto::INT8 || x.type == TensorProto::UINT8;
  // ONNX Runtime has these for wide integers only.
  if (narrow && which != 3 && which != 4 && which < 8) return false;
  if (x.type == TensorProto::UINT8 && (op == "Neg" || op == "Abs" || op == "Sign")) return false;
  Value y, z;
  if (op == "Abs" || op == "Neg" || op == "Sign" || op == "BitwiseNot") {
    if (!d.node(op.c_str(), {x.name}, x.type, x.most + 1, shape_of(x), &y)) return false;
  } else {
    if (op == "Div" || op == "Mod") {
      z.name = d.integers(x.type, {}, 2, 7), z.type = x.type, z.shapes.assign(d.samples(), {}), z.most = 7;
    } else {
      z = second(d, x, false);
    }
    if (!d.node(op.c_str(), {x.name, z.name}, x.type, op == "Mul" ? x.most * z.most : x.most + z.most, broadcast_of(x, z), &y))
      return false;
  }
  d.push(y);
  return true;
}

bool cast(Draw& d) {
  const Value* p = d.any([](const Value&) { return true; });
  static const Type types[] = {TensorProto::INT32, TensorProto::INT64, TensorProto::INT8,
                               TensorProto::UINT8, TensorProto::BOOL,  TensorProto::FLOAT16};
  Value x = p->type == d.real ? d.in(*p) : *p, y;
  Type to = p->type == d.real ? d.c.of(types) : d.real;
  if (to == x.type || (to == TensorProto::FLOAT16 && x.most > 500)) to = TensorProto::FLOAT;
  // Beyond the range the result is undefined: only what fits is cast.
  if ((to == TensorProto::INT8 || to == TensorProto::UINT8) && (x.type != TensorProto::BOOL)) {
    if (x.type != d.real || x.most > 1e4f) return false;
    Value clipped;
    const float low = to == TensorProto::INT8 ? -100 : 0;
    if (!d.node("Clip", {x.name, d.scalar(low, x.type), d.scalar(100, x.type)}, x.type, 100, shape_of(x), &clipped)) return false;
    x = clipped;
  }
  if (x.most > 1e6f) return false;
  if (!d.node("Cast", {x.name}, to, x.most, shape_of(x), &y, [&](Node& n) { n.i("to", to); })) return false;
  if (to == TensorProto::FLOAT16 && d.real == TensorProto::FLOAT) {  // there and back: weights are stored so
    Value z;
    if (!d.node("Cast", {y.name}, TensorProto::FLOAT, x.most, shape_of(x), &z, [&](Node& n) { n.i("to", TensorProto::FLOAT); }))
      return false;
    y = z;
  }
  d.push(y);
  return true;
}

}  // namespace

const std::vector<Line>& element_lines();
const std::vector<Line>& element_lines() {
  static const std::vector<Line> lines = {{unary, 12},   {binary, 14}, {clip, 4},  {silu, 2}, {positive, 3},
                                          {variadic, 2}, {compare, 3}, {logic, 1}, {cast, 3}, {whole_numbers, 5}};
  return lines;
}

}  // namespace mote::differential
