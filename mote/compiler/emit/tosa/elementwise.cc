// Elements one by one, and reductions.

#include <cmath>

#include "mote/compiler/emit/tosa/writer.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/arg_reduce.h"
#include "mote/ops/common/reduce.h"
#include "mote/ops/div/div.h"
#include "mote/ops/softmax/softmax.h"

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

bool narrow(fb::DType t) { return t == fb::DType::INT8 || t == fb::DType::INT16; }

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

Operand reduce(Writer& w, const Operand& x, OpId id, int axis) {
  Dims dims = x.dims;
  dims[static_cast<size_t>(axis)] = 1;
  const auto propagate = fb::NanPropagationMode::PROPAGATE;
  switch (id) {
    case OpId::reduce_sum:
      return w.op(fb::Op::REDUCE_SUM, fb::Attribute::ReduceSumAttribute, fb::CreateReduceSumAttribute(w.b, axis).Union(), {x}, x.type,
                  dims);
    case OpId::reduce_prod:
      return w.op(fb::Op::REDUCE_PRODUCT, fb::Attribute::ReduceProductAttribute, fb::CreateReduceProductAttribute(w.b, axis).Union(), {x},
                  x.type, dims);
    case OpId::reduce_max:
      return w.op(fb::Op::REDUCE_MAX, fb::Attribute::ReduceMaxAttribute, fb::CreateReduceMaxAttribute(w.b, axis, propagate).Union(), {x},
                  x.type, dims);
    case OpId::reduce_min:
      return w.op(fb::Op::REDUCE_MIN, fb::Attribute::ReduceMinAttribute, fb::CreateReduceMinAttribute(w.b, axis, propagate).Union(), {x},
                  x.type, dims);
    case OpId::reduce_all:
      return w.op(fb::Op::REDUCE_ALL, fb::Attribute::ReduceAllAttribute, fb::CreateReduceAllAttribute(w.b, axis).Union(), {x}, x.type,
                  dims);
    default:
      return w.op(fb::Op::REDUCE_ANY, fb::Attribute::ReduceAnyAttribute, fb::CreateReduceAnyAttribute(w.b, axis).Union(), {x}, x.type,
                  dims);
  }
}

bool is_reduction(const Node& n) {
  switch (static_cast<OpId>(n.op)) {
    case OpId::reduce_sum:
    case OpId::reduce_prod:
    case OpId::reduce_max:
    case OpId::reduce_min:
    case OpId::reduce_all:
    case OpId::reduce_any:
    case OpId::reduce_mean: return true;
    default: return false;
  }
}

Operand reduction(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::ReduceAttrs>();
  Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank();
  std::vector<int64_t> axes(a.axes, a.axes + std::clamp(a.axis_count, 0, 8));
  if (n.input(1) != nullptr && !ir::known_ints(*n.inputs[1], &axes)) w.fail("axes must be known when compiling");
  const bool logical = n.is(OpId::reduce_all) || n.is(OpId::reduce_any), mean = n.is(OpId::reduce_mean);
  if (x.type == fb::DType::INT48 || is_unsigned(n.inputs[0]->type.dtype)) w.fail("TOSA has no such reduction");
  if ((n.is(OpId::reduce_sum) && narrow(x.type)) || ((n.is(OpId::reduce_prod) || mean) && !is_float(x.type)) ||
      (logical && x.type != fb::DType::BOOL))
    w.fail("TOSA has no such reduction");
  for (int i = 0; axes.empty() && i < rank; ++i) axes.push_back(i);
  double count = 1;
  for (const int64_t axis : axes) {
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (!w.ok() || at < 0 || at >= rank) break;
    count *= x.dims[static_cast<size_t>(at)];
    x = reduce(w, x, mean ? OpId::reduce_sum : static_cast<OpId>(n.op), at);
  }
  if (mean && w.ok()) x = w.binary(fb::Op::MUL, x, w.number(x.type, 1 / count, rank));
  return w.ok() ? w.reshape(x, n.outputs[0]->type.dims) : x;
}

Operand arg_max(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::ArgAttrs>();
  const Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
  if (a.select_last != 0 || a.flat != 0 || axis < 0 || axis >= rank) w.fail("TOSA takes the first of the largest elements along an axis");
  if (!w.ok()) return {};
  Dims dims = x.dims;
  dims.erase(dims.begin() + axis);
  const auto kind = fb::CreateArgMaxAttribute(w.b, axis, fb::NanPropagationMode::PROPAGATE).Union();
  const Operand y = w.op(fb::Op::ARGMAX, fb::Attribute::ArgMaxAttribute, kind, {x}, fb::DType::INT32, dims);
  return w.reshape(y, n.outputs[0]->type.dims);
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
    if (!whole) w.fail("TOSA has no cast that cuts off");
  }
  return w.cast(x, type);
}

// Of softmax and log_softmax.
Operand softmax(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]);
  const int rank = n.inputs[0]->type.rank(), given = n.attributes<ops::softmax::Attrs>().axis, axis = given < 0 ? given + rank : given;
  if (!w.ok()) return {};
  const Operand less = w.binary(fb::Op::SUB, x, reduce(w, x, OpId::reduce_max, axis));
  const Operand e = w.op(fb::Op::EXP, {less}, x.type, x.dims);
  const Operand sum = reduce(w, e, OpId::reduce_sum, axis);
  if (n.is(OpId::log_softmax)) return w.binary(fb::Op::SUB, less, w.op(fb::Op::LOG, {sum}, sum.type, sum.dims));
  return w.binary(fb::Op::MUL, e, w.op(fb::Op::RECIPROCAL, {sum}, sum.type, sum.dims));
}

// x * factor + shift for each channel, from constants.
Operand batch_norm(Writer& w, const Node& n) {
  const auto a = n.attributes<ops::batch_norm::Attrs>();
  const Operand x = w.of(n.inputs[0]);
  const size_t rank = x.dims.size(), axis = static_cast<size_t>(a.axis < 0 ? a.axis + static_cast<int>(rank) : a.axis);
  std::vector<double> of[4];
  for (size_t i = 0; i < 4; ++i)
    if (!ir::known_floats(*n.inputs[i + 1], &of[i]) || of[i].size() != of[0].size()) w.fail("scale, bias, mean and variance must be known");
  if (!w.ok() || axis >= rank) return {};
  std::vector<double> factor, shift;
  for (size_t i = 0; i < of[0].size(); ++i) {
    factor.push_back(of[0][i] / std::sqrt(of[3][i] + static_cast<double>(a.epsilon)));
    shift.push_back(of[1][i] - of[2][i] * factor[i]);
  }
  Dims dims(rank, 1);
  dims[axis] = static_cast<int32_t>(factor.size());
  return w.binary(fb::Op::ADD, w.binary(fb::Op::MUL, x, w.numbers(x.type, dims, factor)), w.numbers(x.type, dims, shift));
}

// What TOSA has no operator for but a few words; false: not here.
bool few_words(Writer& w, const Node& n, Operand* y) {
  const auto x = [&] { return w.of(n.inputs[0]); };
  const auto same = [&](fb::Op code, const Operand& v) { return w.op(code, {v}, v.type, v.dims); };
  const int rank = n.outputs[0]->type.rank();
  const bool real = is_float(type_of(n.inputs[0]->type.dtype));
  switch (static_cast<OpId>(n.op)) {
    case OpId::sqrt: *y = same(fb::Op::RECIPROCAL, same(fb::Op::RSQRT, x())); return true;
    case OpId::square:
      if (!real) return false;
      *y = w.binary(fb::Op::MUL, x(), x());
      return true;
    case OpId::silu: *y = w.binary(fb::Op::MUL, x(), same(fb::Op::SIGMOID, x())); return true;
    case OpId::relu: *y = w.clamp(x(), 0, real ? 3.4028234663852886e38 : 2147483647.0); return true;
    case OpId::neg:
      if (!real && n.inputs[0]->type.dtype != DType::s32) return false;
      *y = w.op(fb::Op::NEGATE, {x(), w.zero(x().type), w.zero(x().type)}, x().type, x().dims);
      return true;
    case OpId::logical_not:
      if (n.inputs[0]->type.dtype != DType::boolean) return false;
      *y = same(fb::Op::LOGICAL_NOT, x());
      return true;
    case OpId::is_nan: {
      const Operand v = x();
      *y = same(fb::Op::LOGICAL_NOT, w.binary(fb::Op::EQUAL, v, v));
      return true;
    }
    case OpId::div: {
      const Operand a = w.of(n.inputs[0], rank), b = w.of(n.inputs[1], rank);
      if (n.attributes<ops::div::Attrs>().rounding != ops::div::kExact || (!real && a.type != fb::DType::INT32)) return false;
      *y = real ? w.binary(fb::Op::MUL, a, same(fb::Op::RECIPROCAL, b)) : w.binary(fb::Op::INTDIV, a, b);
      return true;
    }
    default: return false;
  }
}

// Nearest even: the cast to integers rounds so.
Operand round(Writer& w, const Node& n) {
  const Operand x = w.of(n.inputs[0]);
  for (const Node* user : n.outputs[0]->users)
    if (!user->is(OpId::cast)) w.fail("TOSA rounds only on the way to integers");
  return x;
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
  } else if (is_reduction(n)) {
    y = reduction(w, n);
  } else if (n.is(OpId::arg_max)) {
    y = arg_max(w, n);
  } else if (n.is(OpId::clip)) {
    y = clip(w, n);
  } else if (n.is(OpId::cast)) {
    y = cast(w, n);
  } else if (n.is(OpId::bitcast)) {
    y = w.of(n.inputs[0]);
    if (y.type != type_of(out->type.dtype)) w.fail("TOSA reads no element as another type");
  } else if (n.is(OpId::softmax) || n.is(OpId::log_softmax)) {
    y = softmax(w, n);
  } else if (n.is(OpId::batch_norm)) {
    y = batch_norm(w, n);
  } else if (n.is(OpId::round)) {
    y = round(w, n);
  } else if (n.is(OpId::where)) {
    const int rank = out->type.rank();
    const Operand c = w.of(n.inputs[0], rank), a = w.of(n.inputs[1], rank), b = w.of(n.inputs[2], rank);
    if (a.type == fb::DType::INT48) w.fail("TOSA has no choice of 64 bits");
    if (w.ok()) y = w.op(fb::Op::SELECT, {c, a, b}, a.type, out->type.dims);
  } else if (!few_words(w, n, &y)) {
    return false;
  }
  if (w.ok()) w.bind(out, y);
  return true;
}

}  // namespace mote::emit::tosa
