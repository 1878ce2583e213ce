#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/div/div.h"

namespace mote::frontends::torch {
namespace {

// An operand, tensor or number, in the type that is computed in.
Value* side(Op& o, const char* name, DType t) { return o.scalar(name, t); }

// alpha * other, for add and sub.
Value* scaled_other(Op& o, DType t) {
  Value* y = side(o, "other", t);
  if (!o.has("alpha")) return y;
  Value* alpha = o.scalar("alpha", t);
  std::vector<double> known;
  if (alpha != nullptr && ir::known_floats(*alpha, &known) && known.size() == 1 && known[0] == 1) return y;
  std::vector<int64_t> ints;
  if (alpha != nullptr && ir::known_ints(*alpha, &ints) && ints.size() == 1 && ints[0] == 1) return y;
  return t == DType::boolean ? o.op(OpId::logical_and, {y, alpha}) : o.mul(y, alpha);
}

void import_add(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = scaled_other(o, t);
  o.out(t == DType::boolean ? o.op(OpId::logical_or, {x, y}) : o.add(x, y));
}

void import_sub(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = scaled_other(o, t);
  o.out(o.sub(x, y));
}

void import_rsub(Op& o) {
  const DType t = o.out_type();
  Value* x = side(o, "self", t);
  if (o.has("alpha")) x = o.mul(x, o.scalar("alpha", t));
  o.out(o.sub(side(o, "other", t), x));
}

void import_mul(Op& o) {
  const DType t = o.out_type();
  o.out(o.op(t == DType::boolean ? OpId::logical_and : OpId::mul, {side(o, "self", t), side(o, "other", t)}));
}

template <OpId id>
void import_arithmetic(Op& o) {
  const DType t = o.out_type();
  o.out(o.op(id, {side(o, "self", t), side(o, "other", t)}));
}

// Maximum and minimum of bool are "or" and "and".
template <OpId id, OpId of_bool>
void import_extreme(Op& o) {
  const DType t = o.out_type();
  o.out(o.op(t == DType::boolean ? of_bool : id, {side(o, "self", t), side(o, "other", t)}));
}

// The other one where one is NaN.
template <OpId id>
void import_fextreme(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = side(o, "other", t);
  if (t == DType::boolean) return o.out(o.op(id == OpId::maximum ? OpId::logical_or : OpId::logical_and, {x, y}));
  Value* r = o.op(id, {x, y});
  if (!is_float(t)) return o.out(r);
  r = o.op(OpId::where, {o.op(OpId::is_nan, {x}), y, r});
  o.out(o.op(OpId::where, {o.op(OpId::is_nan, {y}), x, r}));
}

Value* truncated(Op& o, Value* x, Value* y) {
  ops::div::Attrs a;
  a.rounding = 1;
  return o.b.ok() ? o.b.op(OpId::div, a, {x, y}) : nullptr;
}

void import_div(Op& o) {
  const DType t = o.out_type();
  const std::string mode = o.text("rounding_mode", "");
  Value *x = side(o, "self", t), *y = side(o, "other", t);
  o.out(mode == "floor" ? o.op(OpId::floor_div, {x, y}) : mode == "trunc" ? truncated(o, x, y) : o.div(x, y));
}

void import_pow(Op& o) {
  const DType t = o.out_type();
  if (o.has("exponent") && o.is_number("exponent") && is_float(t)) {
    Value* x = side(o, "self", t);
    const double e = o.real("exponent", 1);
    if (e == 2) return o.out(o.mul(x, x));
    if (e == 0.5) return o.out(o.sqrt(x));
    if (e == 1) return o.out(x);
    return o.out(o.op(OpId::pow, {x, o.number(e, t)}));
  }
  o.out(o.op(OpId::pow, {side(o, "self", t), side(o, "exponent", t)}));
}

template <OpId id>
void import_compare(Op& o) {
  DType t = o.promote({"self", "other"});
  if (t == DType::boolean && id != OpId::equal && id != OpId::not_equal) t = DType::u8;
  o.out(o.op(id, {side(o, "self", t), side(o, "other", t)}));
}

template <OpId id>
void import_logical(Op& o) {
  o.out(o.op(id, {side(o, "self", DType::boolean), side(o, "other", DType::boolean)}));
}

template <OpId id, OpId of_bool>
void import_bits(Op& o) {
  const DType t = o.out_type();
  o.out(o.op(t == DType::boolean ? of_bool : id, {side(o, "self", t), side(o, "other", t)}));
}

void import_where(Op& o) {
  const DType t = o.out_type();
  Value* condition = o.cast(o.in("condition"), DType::boolean);
  o.out(o.op(OpId::where, {condition, side(o, "self", t), side(o, "other", t)}));
}

void import_masked_fill(Op& o) {
  const DType t = o.out_type();
  o.out(o.op(OpId::where, {o.in("mask"), o.scalar("value", t), o.in("self")}));
}

void import_lerp(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = side(o, "end", t), *w = side(o, "weight", t);
  o.out(o.add(x, o.mul(w, o.sub(y, x))));
}

void import_addcmul(Op& o) {
  const DType t = o.out_type();
  Value* product = o.mul(side(o, "tensor1", t), side(o, "tensor2", t));
  if (o.has("value")) product = o.mul(product, o.scalar("value", t));
  o.out(o.add(side(o, "self", t), product));
}

void import_addcdiv(Op& o) {
  const DType t = o.out_type();
  Value* quotient = o.div(side(o, "tensor1", t), side(o, "tensor2", t));
  if (o.has("value")) quotient = o.mul(quotient, o.scalar("value", t));
  o.out(o.add(side(o, "self", t), quotient));
}

// Magnitude of one, sign of the other; the sign of zeros counts.
void import_copysign(Op& o) {
  const DType t = o.out_type();
  Value *x = o.op(OpId::abs, {side(o, "self", t)}), *y = side(o, "other", t);
  // 1/-0 is minus infinity: that tells the zeros apart.
  Value* zero = o.number(0, t);
  Value* negative = o.op(OpId::less, {o.op(OpId::where, {o.op(OpId::equal, {y, zero}), o.op(OpId::reciprocal, {y}), y}), zero});
  o.out(o.op(OpId::where, {negative, o.op(OpId::neg, {x}), x}));
}

void import_hypot(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = side(o, "other", t);
  o.out(o.sqrt(o.add(o.mul(x, x), o.mul(y, y))));
}

void import_logaddexp(Op& o) {
  const DType t = o.out_type();
  Value *x = side(o, "self", t), *y = side(o, "other", t);
  Value* high = o.op(OpId::maximum, {x, y});
  Value* gap = o.op(OpId::neg, {o.op(OpId::abs, {o.sub(x, y)})});
  Value* sum = o.add(high, o.op(OpId::log1p, {o.op(OpId::exp, {gap})}));
  // Two equal infinities have no gap.
  o.out(o.op(OpId::where, {o.op(OpId::logical_and, {o.op(OpId::equal, {x, y}), o.op(OpId::is_inf, {x})}), x, sum}));
}

void import_prelu(Op& o) {
  Value *x = o.in("self"), *w = o.in("weight");
  if (rank_of(w) == 1 && rank_of(x) > 1 && dim_of(w, 0) != 1) {
    std::vector<int64_t> dims(static_cast<size_t>(rank_of(x)), 1);
    dims[1] = dim_of(w, 0);
    w = o.reshape(w, dims);
  } else if (rank_of(w) == 1 && rank_of(x) < 1) {
    w = o.reshape(w, {});
  }
  o.out(o.op(OpId::prelu, {x, w}));
}

}  // namespace

void add_binary_ops(OpTable& t);
void add_binary_ops(OpTable& t) {
  constexpr DTypeMask kBits = kInt | kBool;
  add_lines(t, {
                   {"aten.add", "Tensor Scalar", &import_add},
                   {"aten.sub", "Tensor Scalar", &import_sub, kReal},
                   {"aten.rsub", "Tensor Scalar", &import_rsub, kReal},
                   {"aten.mul", "Tensor Scalar", &import_mul},
                   {"aten.div", "Tensor Scalar Tensor_mode Scalar_mode", &import_div},
                   {"aten.true_divide", "Tensor", &import_div},
                   {"aten.floor_divide", "default Scalar", &import_arithmetic<OpId::floor_div>, kReal},
                   {"aten.remainder", "Tensor Scalar Scalar_Tensor", &import_arithmetic<OpId::mod>, kReal},
                   {"aten.fmod", "Tensor Scalar", &import_arithmetic<OpId::fmod>, kReal},
                   {"aten.pow", "Tensor_Tensor Tensor_Scalar Scalar", &import_pow, kReal},
                   {"aten.atan2", "default", &import_arithmetic<OpId::atan2>},
                   {"aten.maximum", "default", &import_extreme<OpId::maximum, OpId::logical_or>},
                   {"aten.minimum", "default", &import_extreme<OpId::minimum, OpId::logical_and>},
                   {"aten.max", "other", &import_extreme<OpId::maximum, OpId::logical_or>},
                   {"aten.min", "other", &import_extreme<OpId::minimum, OpId::logical_and>},
                   {"aten.fmax", "default", &import_fextreme<OpId::maximum>},
                   {"aten.fmin", "default", &import_fextreme<OpId::minimum>},
                   {"aten.eq", "Tensor Scalar", &import_compare<OpId::equal>},
                   {"aten.ne", "Tensor Scalar", &import_compare<OpId::not_equal>},
                   {"aten.lt", "Tensor Scalar", &import_compare<OpId::less>},
                   {"aten.le", "Tensor Scalar", &import_compare<OpId::less_equal>},
                   {"aten.gt", "Tensor Scalar", &import_compare<OpId::greater>},
                   {"aten.ge", "Tensor Scalar", &import_compare<OpId::greater_equal>},
                   {"aten.logical_and", "default", &import_logical<OpId::logical_and>},
                   {"aten.logical_or", "default", &import_logical<OpId::logical_or>},
                   {"aten.logical_xor", "default", &import_logical<OpId::logical_xor>},
                   {"aten.bitwise_and", "Tensor Scalar Scalar_Tensor", &import_bits<OpId::bitwise_and, OpId::logical_and>, kBits},
                   {"aten.bitwise_or", "Tensor Scalar Scalar_Tensor", &import_bits<OpId::bitwise_or, OpId::logical_or>, kBits},
                   {"aten.bitwise_xor", "Tensor Scalar Scalar_Tensor", &import_bits<OpId::bitwise_xor, OpId::logical_xor>, kBits},
                   {"aten.__and__", "Tensor Scalar", &import_bits<OpId::bitwise_and, OpId::logical_and>, kBits},
                   {"aten.__or__", "Tensor Scalar", &import_bits<OpId::bitwise_or, OpId::logical_or>, kBits},
                   {"aten.__xor__", "Tensor Scalar", &import_bits<OpId::bitwise_xor, OpId::logical_xor>, kBits},
                   {"aten.bitwise_left_shift", "Tensor Tensor_Scalar Scalar_Tensor", &import_arithmetic<OpId::shift_left>, kInt},
                   {"aten.bitwise_right_shift", "Tensor Tensor_Scalar Scalar_Tensor", &import_arithmetic<OpId::shift_right>, kInt},
                   {"aten.__lshift__", "Tensor Scalar", &import_arithmetic<OpId::shift_left>, kInt},
                   {"aten.__rshift__", "Tensor Scalar", &import_arithmetic<OpId::shift_right>, kInt},
                   {"aten.where", "self ScalarSelf ScalarOther Scalar", &import_where},
                   {"aten.masked_fill", "Scalar Tensor", &import_masked_fill},
                   {"aten.lerp", "Scalar Tensor", &import_lerp, kFloat},
                   {"aten.addcmul", "default", &import_addcmul, kReal},
                   {"aten.addcdiv", "default", &import_addcdiv, kFloat},
                   {"aten.copysign", "Tensor Scalar", &import_copysign},
                   {"aten.hypot", "default", &import_hypot, kFloat},
                   {"aten.logaddexp", "default", &import_logaddexp, kFloat},
                   {"aten.prelu", "default", &import_prelu, kFloat},
                   {"aten._prelu_kernel", "default", &import_prelu, kFloat},
               });
}

}  // namespace mote::frontends::torch
