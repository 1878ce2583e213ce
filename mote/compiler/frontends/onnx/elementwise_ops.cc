// Operators that work element by element, with ONNX's broadcasting of opset 7 and later.

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/narrow_words.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/bitcast/bitcast.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/is_inf/is_inf.h"

namespace mote::frontends::onnx {
namespace {

bool is_float(DType t) { return (mask_of(t) & kFloat) != 0; }

// Sum, Max, Min and Mean take any number of inputs.
template <OpId id>
Value* fold(NodeContext& c) {
  Value* y = c.in(0);
  for (int i = 1; i < c.inputs_given(); ++i) y = binary(c, id, y, c.in(i));
  return y;
}

template <OpId id>
void import_fold(NodeContext& c) {
  c.out(0, fold<id>(c));
}

void import_mean(NodeContext& c) {
  Value* sum = fold<OpId::add>(c);
  if (c.inputs_given() == 1 || sum == nullptr) return c.out(0, sum);
  c.out(0, binary(c, OpId::div, sum, Decompose(c).number(c.inputs_given(), sum->type.dtype)));
}

void import_mod(NodeContext& c) { c.out(0, binary(c, c.attr_int("fmod", 0) != 0 ? OpId::fmod : OpId::mod, c.in(0), c.in(1))); }

void import_bit_shift(NodeContext& c) {
  const std::string direction = c.attr_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return c.fail("attribute direction: expected LEFT or RIGHT, found '" + direction + "'");
  c.out(0, binary(c, direction == "LEFT" ? OpId::shift_left : OpId::shift_right, c.in(0), c.in(1)));
}

// Base and exponent may differ in type; the result has the base's. The arithmetic takes the type that holds both.
DType power_type(DType base, DType exponent) {
  if (base == exponent) return base;
  if (is_float(base)) return is_float(exponent) && dtype_bits(exponent) > dtype_bits(base) ? exponent : base;
  if (is_float(exponent)) return dtype_bits(base) > 16 || exponent == DType::f64 ? DType::f64 : DType::f32;
  return DType::s64;
}

void import_pow(NodeContext& c) {
  const DType type = c.in(0)->type.dtype, work = power_type(type, c.in(1)->type.dtype);
  Value *base = c.b.cast(c.in(0), work), *exponent = c.b.cast(c.in(1), work);
  Value* y = binary(c, OpId::pow, base, exponent);
  if (y != nullptr) c.out(0, c.b.cast(y, type));
}

void import_cast(NodeContext& c) {
  if (c.attr_int("to", 0) == ::onnx::TensorProto::STRING && c.importer.texts().is_text(c.in(0))) return c.out(0, c.in(0));
  const int to = static_cast<int>(c.attr_int("to", 0));
  const DType type = storage_of(to);
  if (type == DType::kNone)
    return c.fail("converting to " + onnx_type_name(to) + " is not possible",
                  "use a number type of ONNX that is neither complex nor of 6 bits");
  cast_narrow(c, narrow_type(to), type);
}

void import_cast_like(NodeContext& c) { cast_narrow(c, narrow_operand(c, 1), c.in(1)->type.dtype); }

// Codes of 8-bit floats are the bytes themselves.
void import_bit_cast(NodeContext& c) {
  const int to = static_cast<int>(c.attr_int("to", 0));
  const NarrowType *from = narrow_operand(c, 0), *narrow = narrow_type(to);
  const bool bytes = (from == nullptr || from->bits == 8) && (narrow == nullptr || narrow->bits == 8);
  ops::bitcast::Attrs a;
  a.to = bytes ? static_cast<int32_t>(storage_of(to)) : 0;
  if (a.to == 0) return c.fail("reading bits as " + onnx_type_name(to) + " is not possible");
  if (static_cast<DType>(a.to) == c.in(0)->type.dtype) return c.out(0, c.in(0), narrow != nullptr ? to : 0);
  // A bool of a model is any byte; ours is 0 or 1.
  if (static_cast<DType>(a.to) == DType::boolean) return c.out(0, c.b.cast(c.in(0), DType::boolean));
  c.out(0, c.b.op(OpId::bitcast, a, {c.in(0)}), narrow != nullptr ? to : 0);
}

// Bounds are attributes before opset 11, inputs since.
void import_clip_6(NodeContext& c) {
  ops::clip::Attrs a;
  a.lo = c.attr_float("min", a.lo);
  a.hi = c.attr_float("max", a.hi);
  c.out(0, c.b.op(OpId::clip, a, {c.in(0)}));
}

void import_clip(NodeContext& c) { c.out(0, c.b.op(OpId::clip, {c.in(0), c.in(1), c.in(2)})); }

void import_is_inf(NodeContext& c) {
  ops::is_inf::Attrs a;
  a.detect_negative = static_cast<int32_t>(c.attr_int("detect_negative", 1));
  a.detect_positive = static_cast<int32_t>(c.attr_int("detect_positive", 1));
  c.out(0, c.b.op(OpId::is_inf, a, {c.in(0)}));
}

}  // namespace

void add_elementwise_ops(OpTable& table);
void add_elementwise_ops(OpTable& table) {
  add_lines(table, {{"Abs", import_plain<OpId::abs, 1>},         {"Neg", import_plain<OpId::neg, 1>},
                    {"Sign", import_plain<OpId::sign, 1>},       {"Ceil", import_plain<OpId::ceil, 1>},
                    {"Floor", import_plain<OpId::floor, 1>},     {"Round", import_plain<OpId::round, 1>},
                    {"Sqrt", import_plain<OpId::sqrt, 1>},       {"Reciprocal", import_plain<OpId::reciprocal, 1>},
                    {"Exp", import_plain<OpId::exp, 1>},         {"Log", import_plain<OpId::log, 1>},
                    {"Sin", import_plain<OpId::sin, 1>},         {"Cos", import_plain<OpId::cos, 1>},
                    {"Tan", import_plain<OpId::tan, 1>},         {"Asin", import_plain<OpId::asin, 1>},
                    {"Acos", import_plain<OpId::acos, 1>},       {"Atan", import_plain<OpId::atan, 1>},
                    {"Sinh", import_plain<OpId::sinh, 1>},       {"Cosh", import_plain<OpId::cosh, 1>},
                    {"Asinh", import_plain<OpId::asinh, 1>},     {"Acosh", import_plain<OpId::acosh, 1>},
                    {"Atanh", import_plain<OpId::atanh, 1>},     {"Erf", import_plain<OpId::erf, 1>},
                    {"IsNaN", import_plain<OpId::is_nan, 1>},    {"IsInf", import_is_inf},
                    {"Not", import_plain<OpId::logical_not, 1>}, {"BitwiseNot", import_plain<OpId::bitwise_not, 1>}});
  add_lines(table, {{"Add", import_plain<OpId::add, 2>, 1, 2},
                    {"Sub", import_plain<OpId::sub, 2>, 1, 2},
                    {"Mul", import_plain<OpId::mul, 2>, 1, 2},
                    {"Div", import_plain<OpId::div, 2>, 1, 2},
                    {"Mod", import_mod, 1, 2},
                    {"Pow", import_pow, 1, 2},
                    {"Equal", import_plain<OpId::equal, 2>, 1, 2},
                    {"Less", import_plain<OpId::less, 2>, 1, 2},
                    {"LessOrEqual", import_plain<OpId::less_equal, 2>, 1, 2},
                    {"Greater", import_plain<OpId::greater, 2>, 1, 2},
                    {"GreaterOrEqual", import_plain<OpId::greater_equal, 2>, 1, 2},
                    {"And", import_plain<OpId::logical_and, 2>, 1, 2},
                    {"Or", import_plain<OpId::logical_or, 2>, 1, 2},
                    {"Xor", import_plain<OpId::logical_xor, 2>, 1, 2},
                    {"BitwiseAnd", import_plain<OpId::bitwise_and, 2>, 1, 2},
                    {"BitwiseOr", import_plain<OpId::bitwise_or, 2>, 1, 2},
                    {"BitwiseXor", import_plain<OpId::bitwise_xor, 2>, 1, 2},
                    {"BitShift", import_bit_shift, 1, 2},
                    {"Where", import_plain<OpId::where, 3>, 1, 3}});
  add_lines(table, {{"Sum", import_fold<OpId::add>},
                    {"Max", import_fold<OpId::maximum>},
                    {"Min", import_fold<OpId::minimum>},
                    {"Mean", import_mean},
                    {"Cast", import_cast},
                    {"CastLike", import_cast_like, 1, 2},
                    {"BitCast", import_bit_cast},
                    {"Clip", import_clip_6},
                    {"Clip", import_clip, 11}});
}

}  // namespace mote::frontends::onnx
