// Operators that TOSA has for elements one by one.

#include <cmath>

#include "mote/compiler/emit/tosa/floats.h"
#include "mote/ops/clip/clip.h"

namespace mote::emit::tosa {
namespace {

fb::Op unary_of(const Node& n) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::abs: return fb::Op::ABS;
    case OpId::bitwise_not: return fb::Op::BITWISE_NOT;
    case OpId::ceil: return fb::Op::CEIL;
    case OpId::cos: return fb::Op::COS;
    case OpId::erf: return fb::Op::ERF;
    case OpId::exp: return fb::Op::EXP;
    case OpId::floor: return fb::Op::FLOOR;
    case OpId::log: return fb::Op::LOG;
    case OpId::reciprocal: return fb::Op::RECIPROCAL;
    case OpId::rsqrt: return fb::Op::RSQRT;
    case OpId::sigmoid: return fb::Op::SIGMOID;
    case OpId::sin: return fb::Op::SIN;
    case OpId::tanh: return fb::Op::TANH;
    default: return fb::Op::UNKNOWN;
  }
}

fb::Op binary_of(const Node& n) {
  const bool logical = n.inputs.size() > 1 && n.inputs[0] != nullptr && n.inputs[0]->type.dtype == DType::boolean;
  switch (static_cast<OpId>(n.op)) {
    case OpId::add: return fb::Op::ADD;
    case OpId::sub: return fb::Op::SUB;
    case OpId::mul: return fb::Op::MUL;
    case OpId::pow: return fb::Op::POW;
    case OpId::maximum: return fb::Op::MAXIMUM;
    case OpId::minimum: return fb::Op::MINIMUM;
    case OpId::equal: return fb::Op::EQUAL;
    case OpId::greater:
    case OpId::less: return fb::Op::GREATER;
    case OpId::greater_equal:
    case OpId::less_equal: return fb::Op::GREATER_EQUAL;
    case OpId::logical_and: return fb::Op::LOGICAL_AND;
    case OpId::logical_or: return fb::Op::LOGICAL_OR;
    case OpId::logical_xor: return fb::Op::LOGICAL_XOR;
    case OpId::bitwise_and: return logical ? fb::Op::LOGICAL_AND : fb::Op::BITWISE_AND;
    case OpId::bitwise_or: return logical ? fb::Op::LOGICAL_OR : fb::Op::BITWISE_OR;
    case OpId::bitwise_xor: return logical ? fb::Op::LOGICAL_XOR : fb::Op::BITWISE_XOR;
    case OpId::shift_left: return fb::Op::LOGICAL_LEFT_SHIFT;
    case OpId::shift_right: return fb::Op::ARITHMETIC_RIGHT_SHIFT;
    default: return fb::Op::UNKNOWN;
  }
}

// Operators that TOSA has for 32 bits of integers, floats and nothing narrower.
bool needs_wide(fb::Op code) {
  switch (code) {
    case fb::Op::ADD:
    case fb::Op::SUB:
    case fb::Op::MUL:
    case fb::Op::MAXIMUM:
    case fb::Op::MINIMUM:
    case fb::Op::EQUAL:
    case fb::Op::GREATER:
    case fb::Op::GREATER_EQUAL:
    case fb::Op::ABS: return true;
    default: return false;
  }
}

Operand binary(Writer& w, const Node& n, fb::Op code) {
  const int rank = n.outputs[0]->type.rank();
  const bool swapped = n.is(OpId::less) || n.is(OpId::less_equal);
  Operand x = w.of(n.inputs[swapped ? 1 : 0], rank), y = w.of(n.inputs[swapped ? 0 : 1], rank);
  const DType t = n.inputs[0]->type.dtype;
  if (!w.ok()) return {};
  if (x.type == fb::DType::INT48 || y.type == fb::DType::INT48) w.fail("TOSA has no arithmetic of 64 bits");
  if (is_unsigned(t) && needs_wide(code)) w.fail("TOSA has no arithmetic of unsigned integers");
  if (x.type == fb::DType::BOOL && needs_wide(code)) {
    x = w.cast(x, fb::DType::INT32);
    y = w.cast(y, fb::DType::INT32);
  }
  if (code == fb::Op::ARITHMETIC_RIGHT_SHIFT) {
    if (is_unsigned(t)) return w.binary(fb::Op::LOGICAL_RIGHT_SHIFT, x, y);
    Dims dims = n.outputs[0]->type.dims;
    return w.op(code, fb::Attribute::ArithmeticRightShiftAttribute, fb::CreateArithmeticRightShiftAttribute(w.b, false).Union(), {x, y},
                x.type, dims);
  }
  const fb::DType type = x.type;
  if (!narrow(type) || !needs_wide(code)) {
    const Operand r = w.binary(code, x, y);
    return r.type == fb::DType::INT32 && type == fb::DType::INT32 && n.outputs[0]->type.dtype == DType::boolean ? w.cast(r, fb::DType::BOOL)
                                                                                                                : r;
  }
  const Operand r = w.binary(code, w.cast(x, fb::DType::INT32), w.cast(y, fb::DType::INT32));
  return r.type == fb::DType::BOOL ? r : w.cast(r, type);
}

Operand clip(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::clip::Attrs>();
  const Operand x = w.of(n.inputs[0]);
  double lo = static_cast<double>(a.lo), hi = static_cast<double>(a.hi);
  for (size_t i = 1; i <= 2; ++i) {
    if (n.input(i) == nullptr) continue;
    std::vector<double> real;
    std::vector<int64_t> whole;
    const bool known = is_float(x.type) ? ir::known_floats(*n.inputs[i], &real) : ir::known_ints(*n.inputs[i], &whole);
    if (!known) w.fail("bounds must be known when compiling");
    else (i == 1 ? lo : hi) = is_float(x.type) ? real.at(0) : static_cast<double>(whole.at(0));
  }
  if (x.type == fb::DType::FP32) lo = std::max(lo, -3.4028234663852886e38), hi = std::min(hi, 3.4028234663852886e38);
  if (is_unsigned(n.inputs[0]->type.dtype) || x.type == fb::DType::INT48 || lo > hi) w.fail("TOSA has no such bounds");
  return w.ok() ? w.clamp(x, lo, hi) : x;
}

Operand cast(Writer& w, const Node& n) {
  const DType from = n.inputs[0]->type.dtype, to = n.outputs[0]->type.dtype;
  const Operand x = w.of(n.inputs[0]);
  const fb::DType type = type_of(to);
  if (!w.ok()) return {};
  if (type == x.type && !is_unsigned(to) && !is_unsigned(from)) return x;
  if (is_unsigned(from) || is_unsigned(to) || type == fb::DType::UNKNOWN || type == fb::DType::INT48 || x.type == fb::DType::INT48) {
    w.fail(std::string("TOSA has no cast from ") + dtype_name(from) + " to " + dtype_name(to));
    return {};
  }
  // Floats are cut off here, and rounded there: what is whole already stays.
  if (is_float(x.type) && !is_float(type) && type != fb::DType::BOOL) {
    const Node* p = n.inputs[0]->producer;
    const bool whole = p != nullptr && (p->is(OpId::round) || p->is(OpId::floor) || p->is(OpId::ceil));
    Floats f(w, x);
    if (!whole) return w.cast(f.choose(f.above(x, 0), f.one(fb::Op::FLOOR, x), f.one(fb::Op::CEIL, x)), type);
  }
  return w.cast(x, type);
}

// To the nearest even: the cast to integers rounds so. Floats above 2^23 are whole.
Operand round(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]);
  const Value* y = n.outputs[0];
  const bool cast_next =
      y->result_uses == 0 && std::all_of(y->users.begin(), y->users.end(), [](const Node* u) { return u->is(OpId::cast); });
  if (!w.ok() || cast_next) return x;
  constexpr double kWhole = 1 << 23;
  const Operand wide = w.cast(x, fb::DType::FP32);
  Floats f(w, wide);
  const Operand rounded = w.cast(w.cast(w.clamp(wide, -kWhole, kWhole), fb::DType::INT32), fb::DType::FP32);
  return w.cast(f.choose(w.binary(fb::Op::GREATER, f.number(kWhole), f.abs(wide)), rounded, wide), x.type);
}

}  // namespace

bool lower_elementwise(Writer& w, const Node& n) {
  Operand y;
  const Value* out = n.outputs[0];
  if (const fb::Op code = unary_of(n); code != fb::Op::UNKNOWN) {
    y = w.of(n.inputs[0]);
    const bool whole = !is_float(y.type);
    if (whole && code != fb::Op::BITWISE_NOT && !(code == fb::Op::ABS && y.type == fb::DType::INT32))
      w.fail("TOSA has this for floats only");
    if (w.ok()) y = w.op(code, {y}, y.type, y.dims);
  } else if (const fb::Op two = binary_of(n); two != fb::Op::UNKNOWN) {
    y = binary(w, n, two);
  } else if (n.is(OpId::clip)) {
    y = clip(w, n);
  } else if (n.is(OpId::cast)) {
    y = cast(w, n);
  } else if (n.is(OpId::bitcast)) {
    y = w.of(n.inputs[0]);
    if (y.type != type_of(out->type.dtype)) w.fail("TOSA reads no element as another type");
  } else if (n.is(OpId::round)) {
    y = round(w, n);
  } else if (n.is(OpId::where)) {
    const int rank = out->type.rank();
    const Operand c = w.of(n.inputs[0], rank), a = w.of(n.inputs[1], rank), b = w.of(n.inputs[2], rank);
    if (a.type == fb::DType::INT48) w.fail("TOSA has no choice of 64 bits");
    if (w.ok()) y = w.op(fb::Op::SELECT, {c, a, b}, a.type, out->type.dims);
  } else {
    return false;
  }
  if (w.ok()) w.bind(out, y);
  return true;
}

}  // namespace mote::emit::tosa
