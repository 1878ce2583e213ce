#include <cmath>

#include "mote/compiler/frontends/torch/op.h"
#include "mote/ops/cast/cast.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/shrink/shrink.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"
#include "mote/ops/threshold/threshold.h"

namespace mote::frontends::torch {
namespace {

// The input, in the type of the output: functions of real numbers make floats of integers.
Value* converted(Op& o) { return o.cast(o.in("self"), o.out_type()); }

template <OpId id>
void import_float(Op& o) {
  o.out(o.op(id, {converted(o)}));
}

// Functions that leave integers alone; of bool too where they have a meaning there.
template <OpId id>
void import_same(Op& o) {
  Value* x = o.in("self");
  o.out(dtype_of_value(x) == DType::boolean ? x : o.op(id, {x}));
}

void import_neg(Op& o) { o.out(o.op(OpId::neg, {o.in("self")})); }

void import_round(Op& o) {
  Value* x = o.in("self");
  const int64_t decimals = o.integer("decimals", 0);
  if (std::abs(decimals) > 300) return o.refuse("too many decimals");
  if (decimals == 0 || !is_float(dtype_of_value(x))) return o.out(o.op(OpId::round, {x}));
  const double ten = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Value* scaled = decimals > 0 ? o.mul(x, ten) : o.div(x, ten);
  Value* rounded = o.op(OpId::round, {scaled});
  o.out(decimals > 0 ? o.div(rounded, ten) : o.mul(rounded, ten));
}

void import_frac(Op& o) {
  Value* x = o.in("self");
  o.out(o.sub(x, o.op(OpId::trunc, {x})));
}

void import_relu(Op& o) {
  Value* x = o.in("self");
  o.out(is_float(dtype_of_value(x)) ? o.op(OpId::relu, {x}) : o.op(OpId::maximum, {x, o.number(0, x)}));
}

void import_square(Op& o) {
  Value* x = o.cast(o.in("self"), o.out_type(0));  // of truth values it is s64
  o.out(o.mul(x, x));
}

void import_signbit(Op& o) {
  Value* x = o.in("self");
  if (!is_float(dtype_of_value(x))) {
    if (dtype_of_value(x) == DType::boolean) x = o.cast(x, DType::u8);
    return o.out(o.op(OpId::less, {x, o.number(0, x)}));
  }
  // The sign of zeros and NaN: the highest bit.
  const uint32_t bits = dtype_bits(dtype_of_value(x));
  ops::cast::Attrs a;
  a.to = static_cast<int32_t>(bits == 16 ? DType::s16 : bits == 32 ? DType::s32 : DType::s64);
  Value* raw = o.b.ok() ? o.b.op(OpId::bitcast, a, {x}) : nullptr;
  o.out(o.op(OpId::less, {raw, o.number(0, raw)}));
}

void import_isnan(Op& o) {
  Value* x = o.in("self");
  if (is_float(dtype_of_value(x))) return o.out(o.op(OpId::is_nan, {x}));
  if (dtype_of_value(x) == DType::boolean) x = o.cast(x, DType::u8);
  o.out(o.op(OpId::not_equal, {x, x}));
}

void import_isinf(Op& o) {
  Value* x = o.in("self");
  if (is_float(dtype_of_value(x))) return o.out(o.op(OpId::is_inf, {x}));
  if (dtype_of_value(x) == DType::boolean) x = o.cast(x, DType::u8);
  o.out(o.op(OpId::not_equal, {x, x}));
}

void import_isfinite(Op& o) {
  Value* x = o.in("self");
  if (!is_float(dtype_of_value(x))) {
    if (dtype_of_value(x) == DType::boolean) x = o.cast(x, DType::u8);
    return o.out(o.op(OpId::equal, {x, x}));
  }
  Value* not_finite = o.op(OpId::logical_or, {o.op(OpId::is_nan, {x}), o.op(OpId::is_inf, {x})});
  o.out(o.op(OpId::logical_not, {not_finite}));
}

void import_bitwise_not(Op& o) { o.out(o.op(OpId::bitwise_not, {o.in("self")})); }
void import_logical_not(Op& o) { o.out(o.op(OpId::logical_not, {o.cast(o.in("self"), DType::boolean)})); }

void import_erfc(Op& o) { o.out(o.sub(o.number(1, o.out_type()), o.op(OpId::erf, {converted(o)}))); }

void import_logit(Op& o) {
  Value* x = converted(o);
  if (o.has("eps")) {
    const double eps = o.real("eps", 0);
    x = o.op(OpId::minimum, {o.op(OpId::maximum, {x, o.number(eps, x)}), o.number(1 - eps, x)});
  }
  o.out(o.op(OpId::log, {o.div(x, o.sub(o.number(1, o.out_type()), x))}));
}

void import_log_sigmoid(Op& o) {
  // -softplus(-x), without a threshold.
  ops::softplus::Attrs a;
  a.threshold = 0;
  Value* x = o.op(OpId::neg, {o.in("self")});
  o.out(0, o.op(OpId::neg, {o.b.ok() ? o.b.op(OpId::softplus, a, {x}) : nullptr}));
}

template <class A>
void with_attributes(Op& o, OpId id, const A& a) {
  Value* x = converted(o);
  if (o.b.ok()) o.out(o.b.op(id, a, {x}));
}

void import_gelu(Op& o) {
  ops::gelu::Attrs a;
  a.approximate = o.text("approximate", "none") == "tanh" ? 1 : 0;
  with_attributes(o, OpId::gelu, a);
}

void import_silu(Op& o) { with_attributes(o, OpId::silu, ops::silu::Attrs{}); }

void import_leaky_relu(Op& o) {
  ops::leaky_relu::Attrs a;
  a.negative_slope = static_cast<float>(o.real("negative_slope", 0.01));
  with_attributes(o, OpId::leaky_relu, a);
}

void import_elu(Op& o) {
  ops::elu::Attrs a;
  a.alpha = static_cast<float>(o.real("alpha", 1));
  a.scale = static_cast<float>(o.real("scale", 1));
  a.input_scale = static_cast<float>(o.real("input_scale", 1));
  with_attributes(o, OpId::elu, a);
}

void import_celu(Op& o) {
  ops::elu::Attrs a;
  a.alpha = static_cast<float>(o.real("alpha", 1));
  a.input_scale = 1 / a.alpha;
  with_attributes(o, OpId::elu, a);
}

void import_selu(Op& o) {
  ops::elu::Attrs a;
  a.alpha = 1.6732632423543772848170429916717f;
  a.scale = 1.0507009873554804934193349852946f;
  with_attributes(o, OpId::elu, a);
}

void import_softplus(Op& o) {
  ops::softplus::Attrs a;
  a.beta = static_cast<float>(o.real("beta", 1));
  a.threshold = static_cast<float>(o.real("threshold", 20));
  with_attributes(o, OpId::softplus, a);
}

void import_hardshrink(Op& o) {
  ops::shrink::Attrs a;
  a.lambd = static_cast<float>(o.real("lambd", 0.5));
  with_attributes(o, OpId::shrink, a);
}

void import_softshrink(Op& o) {
  ops::shrink::Attrs a;
  a.lambd = a.bias = static_cast<float>(o.real("lambd", 0.5));
  with_attributes(o, OpId::shrink, a);
}

void import_threshold(Op& o) {
  Value* x = o.in("self");
  Value* keep = o.op(OpId::greater, {x, o.scalar("threshold", dtype_of_value(x))});
  // NaN is not at most the threshold.
  if (is_float(dtype_of_value(x))) keep = o.op(OpId::logical_or, {keep, o.op(OpId::is_nan, {x})});
  o.out(o.op(OpId::where, {keep, x, o.scalar("value", dtype_of_value(x))}));
}

void import_hardtanh(Op& o) {
  Value* x = o.in("self");
  const DType t = dtype_of_value(x);
  Value* lo = o.has("min_val") ? o.scalar("min_val", t) : o.number(-1, t);
  Value* hi = o.has("max_val") ? o.scalar("max_val", t) : o.number(1, t);
  o.out(o.op(OpId::clip, {x, lo, hi}));
}

void import_relu6(Op& o) {
  Value* x = o.in("self");
  o.out(o.op(OpId::clip, {x, o.number(0, x), o.number(6, x)}));
}

void import_hardsigmoid(Op& o) { with_attributes(o, OpId::hard_sigmoid, ops::hard_sigmoid::Attrs{}); }

// Also by tensors: the bounds broadcast, and NaN in any of them wins.
void import_clamp(Op& o) {
  const DType t = o.out_type();
  Value* x = o.cast(o.in("self"), t);
  if (!o.has("min") && !o.has("max")) return o.refuse("expected a lower or an upper bound, found neither");
  if (o.has("min")) x = o.op(OpId::maximum, {x, o.scalar("min", t)});
  if (o.has("max")) x = o.op(OpId::minimum, {x, o.scalar("max", t)});
  o.out(x);
}

void import_clamp_min(Op& o) { o.out(o.op(OpId::maximum, {converted(o), o.scalar("min", o.out_type())})); }
void import_clamp_max(Op& o) { o.out(o.op(OpId::minimum, {converted(o), o.scalar("max", o.out_type())})); }

void import_glu(Op& o) {
  Value* x = o.in("self");
  const int axis = o.axis("dim", -1, rank_of(x));
  if (!is_fixed(x, axis)) return o.refuse("the axis that is halved must have a fixed size");
  const int64_t half = rank_of(x) == 0 ? 0 : dim_of(x, axis) / 2;
  o.out(o.mul(o.slice(x, axis, 0, half), o.op(OpId::sigmoid, {o.slice(x, axis, half, 2 * half)})));
}

void import_nan_to_num(Op& o) {
  Value* x = o.in("self");
  const DType t = dtype_of_value(x);
  if (!is_float(t)) return o.out(x);
  const double most = t == DType::f16    ? 65504.0
                      : t == DType::bf16 ? 3.3895313892515355e38
                      : t == DType::f32  ? 3.4028234663852886e38
                                         : 1.7976931348623157e308;
  Value* y = o.op(OpId::where, {o.op(OpId::is_nan, {x}), o.number(o.real("nan", 0), t), x});
  y = o.op(OpId::where, {o.op(OpId::equal, {x, o.number(INFINITY, t)}), o.number(o.real("posinf", most), t), y});
  o.out(o.op(OpId::where, {o.op(OpId::equal, {x, o.number(-INFINITY, t)}), o.number(o.real("neginf", -most), t), y}));
}

void add_math_ops(OpTable& t) {
  add_lines(t, {
                   {"aten.abs", "default", &import_same<OpId::abs>},
                   {"aten.acos", "default", &import_float<OpId::acos>},
                   {"aten.acosh", "default", &import_float<OpId::acosh>},
                   {"aten.asin", "default", &import_float<OpId::asin>},
                   {"aten.asinh", "default", &import_float<OpId::asinh>},
                   {"aten.atan", "default", &import_float<OpId::atan>},
                   {"aten.atanh", "default", &import_float<OpId::atanh>},
                   {"aten.ceil", "default", &import_same<OpId::ceil>, kReal},
                   {"aten.cos", "default", &import_float<OpId::cos>},
                   {"aten.cosh", "default", &import_float<OpId::cosh>},
                   {"aten.erf", "default", &import_float<OpId::erf>},
                   {"aten.erfc", "default", &import_erfc},
                   {"aten.exp", "default", &import_float<OpId::exp>},
                   {"aten.exp2", "default", &import_float<OpId::exp2>},
                   {"aten.expm1", "default", &import_float<OpId::expm1>},
                   {"aten.floor", "default", &import_same<OpId::floor>, kReal},
                   {"aten.frac", "default", &import_frac, kFloat},
                   {"aten.log", "default", &import_float<OpId::log>},
                   {"aten.log10", "default", &import_float<OpId::log10>},
                   {"aten.log1p", "default", &import_float<OpId::log1p>},
                   {"aten.log2", "default", &import_float<OpId::log2>},
                   {"aten.logit", "default", &import_logit},
                   {"aten.neg", "default", &import_neg, kReal},
                   {"aten.reciprocal", "default", &import_float<OpId::reciprocal>},
                   {"aten.round", "default decimals", &import_round, kReal},
                   {"aten.rsqrt", "default", &import_float<OpId::rsqrt>},
                   {"aten.sigmoid", "default", &import_float<OpId::sigmoid>},
                   {"aten.sign", "default", &import_same<OpId::sign>},
                   {"aten.sgn", "default", &import_same<OpId::sign>},
                   {"aten.signbit", "default", &import_signbit},
                   {"aten.sin", "default", &import_float<OpId::sin>},
                   {"aten.sinh", "default", &import_float<OpId::sinh>},
                   {"aten.sqrt", "default", &import_float<OpId::sqrt>},
                   {"aten.square", "default", &import_square, kReal},
                   {"aten.tan", "default", &import_float<OpId::tan>},
                   {"aten.tanh", "default", &import_float<OpId::tanh>},
                   {"aten.trunc", "default", &import_same<OpId::trunc>, kReal},
                   {"aten.fix", "default", &import_same<OpId::trunc>, kReal},
                   {"aten.isnan", "default", &import_isnan},
                   {"aten.isinf", "default", &import_isinf},
                   {"aten.isfinite", "default", &import_isfinite},
                   {"aten.bitwise_not", "default", &import_bitwise_not, kInt | kBool},
                   {"aten.logical_not", "default", &import_logical_not},
                   {"aten.nan_to_num", "default", &import_nan_to_num},
               });
}

void add_activations(OpTable& t) {
  add_lines(t, {
                   {"aten.relu", "default", &import_relu, kReal},
                   {"aten.relu6", "default", &import_relu6, kReal},
                   {"aten.gelu", "default", &import_gelu, kFloat},
                   {"aten.silu", "default", &import_silu, kFloat},
                   {"aten.mish", "default", &import_float<OpId::mish>, kFloat},
                   {"aten.leaky_relu", "default", &import_leaky_relu, kFloat},
                   {"aten.elu", "default", &import_elu, kFloat},
                   {"aten.celu", "default", &import_celu, kFloat},
                   {"aten.selu", "default", &import_selu, kFloat},
                   {"aten.softplus", "default", &import_softplus, kFloat},
                   {"aten.log_sigmoid", "default", &import_log_sigmoid, kFloat},
                   {"aten.log_sigmoid_forward", "default", &import_log_sigmoid, kFloat},
                   {"aten.hardshrink", "default", &import_hardshrink, kFloat},
                   {"aten.softshrink", "default", &import_softshrink, kFloat},
                   {"aten.threshold", "default", &import_threshold, kReal},
                   {"aten.hardtanh", "default", &import_hardtanh, kReal},
                   {"aten.hardswish", "default", &import_float<OpId::hard_swish>, kFloat},
                   {"aten.hardsigmoid", "default", &import_hardsigmoid, kFloat},
                   {"aten.clamp", "default Tensor", &import_clamp, kReal},
                   {"aten.clip", "default Tensor", &import_clamp, kReal},
                   {"aten.clamp_min", "default Tensor", &import_clamp_min, kReal},
                   {"aten.clamp_max", "default Tensor", &import_clamp_max, kReal},
                   {"aten.glu", "default", &import_glu, kFloat},
               });
}

}  // namespace

void add_unary_ops(OpTable& t);
void add_unary_ops(OpTable& t) {
  add_math_ops(t);
  add_activations(t);
}

}  // namespace mote::frontends::torch
