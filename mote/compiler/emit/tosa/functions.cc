// Functions of floats that take several operators: activations, roots, divisions.

#include <cmath>

#include "mote/compiler/emit/tosa/floats.h"
#include "mote/compiler/ir/infer.h"
#include "mote/ops/batch_norm/batch_norm.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/div/div.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/softplus/softplus.h"
#include "mote/ops/threshold/threshold.h"

namespace mote::emit::tosa {
namespace {

constexpr double kLog2 = 0.69314718055994530942;

// Where x is not above 0, something else.
Operand where_negative(Floats& f, const Operand& x, const Operand& negative) { return f.choose(f.above(x, 0), x, negative); }

// exp(x) - 1 for x <= 0 without loss around 0: tanh(x / 2) * (exp(x) + 1).
Operand expm1(Floats& f, const Operand& x) {
  const Operand low = f.least(x, 0);
  return f.mul(f.one(fb::Op::TANH, f.mul(low, 0.5)), f.add(f.exp(low), 1));
}

// log(1 + exp(x)).
Operand softplus(Floats& f, const Operand& x) { return f.add(f.most(x, 0), f.log(f.add(f.exp(f.mul(f.abs(x), -1)), 1))); }

Operand gelu(Floats& f, const Operand& x, bool by_tanh) {
  if (!by_tanh) return f.mul(f.mul(x, 0.5), f.add(f.one(fb::Op::ERF, f.mul(x, 0.70710678118654752)), 1));
  const Operand cube = f.mul(f.mul(f.mul(x, x), x), 0.044715);
  return f.mul(f.mul(x, 0.5), f.add(f.one(fb::Op::TANH, f.mul(f.add(x, cube), 0.79788456080286536)), 1));
}

Operand hard_sigmoid(Floats& f, const Operand& x, double a, double b) { return f.w.clamp(f.add(f.mul(x, a), b), 0, 1); }

}  // namespace

Operand activate(Writer& w, const Operand& x, uint32_t kind, float act_a, float act_b) {
  if (!w.ok()) return x;
  Floats f(w, x);
  const double a = static_cast<double>(act_a), b = static_cast<double>(act_b);
  switch (static_cast<ops::Activation>(kind)) {
    case ops::Activation::kNone: return x;
    case ops::Activation::kClamp: return w.clamp(x, std::max(a, -kMostFloat), std::min(b, kMostFloat));
    case ops::Activation::kRelu: return w.clamp(x, 0, kMostFloat);
    case ops::Activation::kRelu6: return w.clamp(x, 0, 6);
    case ops::Activation::kLeaky: return where_negative(f, x, f.mul(x, a));
    case ops::Activation::kSigmoid: return f.one(fb::Op::SIGMOID, x);
    case ops::Activation::kTanh: return f.one(fb::Op::TANH, x);
    case ops::Activation::kSilu: return f.mul(x, f.one(fb::Op::SIGMOID, x));
    case ops::Activation::kHardSwish: return f.mul(x, f.mul(w.clamp(f.add(x, 3), 0, 6), 1.0 / 6));
    case ops::Activation::kGelu: return gelu(f, x, false);
    case ops::Activation::kGeluTanh: return gelu(f, x, true);
    case ops::Activation::kHardSigmoid: return hard_sigmoid(f, x, a, b);
    case ops::Activation::kElu: return where_negative(f, x, f.mul(expm1(f, x), a));
    case ops::Activation::kSoftplus: return softplus(f, x);
    case ops::Activation::kMish: return f.mul(x, f.one(fb::Op::TANH, softplus(f, x)));
  }
  w.fail("the activation has no form in TOSA");
  return x;
}

namespace {

Operand plain(Writer& w, const Operand& x, ops::Activation kind, float a = 0, float b = 0) {
  return activate(w, x, static_cast<uint32_t>(kind), a, b);
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

// Of one tensor of floats; false: not here.
bool function(Writer& w, const Node& n, const Operand& x, Operand* y) {
  using ops::Activation;
  Floats f(w, x);
  switch (static_cast<OpId>(n.op)) {
    case OpId::sqrt: *y = f.reciprocal(f.one(fb::Op::RSQRT, x)); return true;
    case OpId::square: *y = f.mul(x, x); return true;
    case OpId::neg: *y = w.op(fb::Op::NEGATE, {x, w.zero(x.type), w.zero(x.type)}, x.type, x.dims); return true;
    case OpId::silu: *y = plain(w, x, Activation::kSilu); return true;
    case OpId::hard_swish: *y = plain(w, x, Activation::kHardSwish); return true;
    case OpId::mish: *y = plain(w, x, Activation::kMish); return true;
    case OpId::gelu: *y = gelu(f, x, n.attributes<ops::gelu::Attrs>().approximate != 0); return true;
    case OpId::leaky_relu: *y = plain(w, x, Activation::kLeaky, n.attributes<ops::leaky_relu::Attrs>().negative_slope); return true;
    case OpId::softsign: *y = f.mul(x, f.reciprocal(f.add(f.abs(x), 1))); return true;
    case OpId::exp2: *y = f.exp(f.mul(x, kLog2)); return true;
    case OpId::log2: *y = f.mul(f.log(x), 1 / kLog2); return true;
    case OpId::log10: *y = f.mul(f.log(x), 0.43429448190325182765); return true;
    case OpId::hard_sigmoid: {
      const auto a = n.attributes<ops::hard_sigmoid::Attrs>();
      *y = hard_sigmoid(f, x, static_cast<double>(a.alpha), static_cast<double>(a.beta));
      return true;
    }
    case OpId::elu: {
      const auto a = n.attributes<ops::elu::Attrs>();
      const double alpha = static_cast<double>(a.alpha), scale = static_cast<double>(a.scale);
      *y = f.choose(f.above(x, 0), f.mul(x, scale), f.mul(expm1(f, f.mul(x, static_cast<double>(a.input_scale))), alpha * scale));
      return true;
    }
    case OpId::softplus: {
      const auto a = n.attributes<ops::softplus::Attrs>();
      const double beta = static_cast<double>(a.beta);
      if (a.beta == 0) return false;
      *y = f.mul(softplus(f, f.mul(x, beta)), 1 / beta);
      if (a.threshold > 0) *y = f.choose(f.above(f.mul(x, beta), static_cast<double>(a.threshold)), x, *y);
      return true;
    }
    case OpId::threshold: {
      const auto a = n.attributes<ops::threshold::Attrs>();
      *y = f.choose(f.above(x, static_cast<double>(a.threshold)), x,
                    f.w.numbers(f.type, Dims(x.dims.size(), 1), {static_cast<double>(a.value)}));
      return true;
    }
    case OpId::sign: {
      const Operand up = f.above(x, 0), down = w.binary(fb::Op::GREATER, f.number(0), x);
      *y = f.sub(w.cast(w.cast(up, fb::DType::INT8), x.type), w.cast(w.cast(down, fb::DType::INT8), x.type));
      return true;
    }
    default: return false;
  }
}

// Of two; integers have only some of them.
bool function_of_two(Writer& w, const Node& n, Operand* y) {
  const int rank = n.outputs[0]->type.rank();
  const bool real = is_float(type_of(n.inputs[0]->type.dtype));
  const auto a = [&] { return w.of(n.inputs[0], rank); };
  const auto b = [&] { return w.of(n.inputs[1], rank); };
  switch (static_cast<OpId>(n.op)) {
    case OpId::prelu: {
      if (!real) return false;
      const Operand x = a(), slope = b();
      if (!w.ok()) return true;
      Floats f(w, x);
      *y = f.choose(w.binary(fb::Op::GREATER, f.number(0), x), f.mul(x, slope), x);
      return true;
    }
    case OpId::squared_difference: {
      if (!real) return false;
      const Operand d = w.binary(fb::Op::SUB, a(), b());
      *y = w.binary(fb::Op::MUL, d, d);
      return true;
    }
    case OpId::not_equal: {
      if (!real && n.inputs[0]->type.dtype != DType::s32) return false;
      const Operand same = w.binary(fb::Op::EQUAL, a(), b());
      *y = w.op(fb::Op::LOGICAL_NOT, {same}, same.type, same.dims);
      return true;
    }
    case OpId::div: {
      const auto rounding = n.attributes<ops::div::Attrs>().rounding;
      const Operand x = a(), d = b();
      if (rounding != ops::div::kExact || (!real && x.type != fb::DType::INT32)) return false;
      *y = real ? w.binary(fb::Op::MUL, x, w.op(fb::Op::RECIPROCAL, {d}, d.type, d.dims)) : w.binary(fb::Op::INTDIV, x, d);
      return true;
    }
    default: return false;
  }
}

// Of other types too.
bool few_words(Writer& w, const Node& n, Operand* y) {
  const DType t = n.inputs[0]->type.dtype;
  const bool real = is_float(type_of(t));
  const auto x = [&] { return w.of(n.inputs[0]); };
  const auto same = [&](fb::Op code, const Operand& v) { return w.op(code, {v}, v.type, v.dims); };
  switch (static_cast<OpId>(n.op)) {
    case OpId::relu:
      if (is_unsigned(t)) return false;
      *y = w.clamp(x(), 0, real ? kMostFloat : 2147483647.0);
      return true;
    case OpId::neg:
      if (t != DType::s32) return false;
      *y = w.op(fb::Op::NEGATE, {x(), w.zero(x().type), w.zero(x().type)}, x().type, x().dims);
      return true;
    case OpId::logical_not:
      if (t != DType::boolean) return false;
      *y = same(fb::Op::LOGICAL_NOT, x());
      return true;
    case OpId::is_nan: {
      if (!real) return false;
      const Operand v = x();
      *y = same(fb::Op::LOGICAL_NOT, w.binary(fb::Op::EQUAL, v, v));
      return true;
    }
    default: return false;
  }
}

}  // namespace

bool lower_functions(Writer& w, const Node& n) {
  if (n.inputs.empty() || n.inputs[0] == nullptr || n.outputs[0] == nullptr) return false;
  Operand y;
  if (n.is(OpId::batch_norm)) {
    y = batch_norm(w, n);
  } else if (!few_words(w, n, &y) && !function_of_two(w, n, &y)) {
    if (!is_float(type_of(n.inputs[0]->type.dtype))) return false;
    const Operand x = w.of(n.inputs[0]);
    if (w.ok() && !function(w, n, x, &y)) return false;
  }
  if (w.ok()) w.bind(n.outputs[0], y);
  return true;
}

}  // namespace mote::emit::tosa
