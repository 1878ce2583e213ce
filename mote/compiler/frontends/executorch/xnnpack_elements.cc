// Nodes that work element by element.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/executorch/xnnpack_op.h"
#include "mote/compiler/ir/multiplier.h"
#include "mote/ops/common/quant_binary.h"
#include "mote/ops/elu/elu.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/leaky_relu/leaky_relu.h"
#include "mote/ops/q_mul/q_mul.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::frontends::executorch {
namespace {

struct XnnUnary {
  OpId op;
  float (*of)(float);
};
float xnn_sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float xnn_hard_swish(float x) { return x * std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f; }
float xnn_gelu(float x) { return x * 0.5f * (1.0f + std::erf(x * 0.70710678f)); }

XnnUnary unary_of(xfb::NodeUnion type) {
  using N = xfb::NodeUnion;
  switch (type) {
    case N::XNNSigmoid: return {OpId::sigmoid, &xnn_sigmoid};
    case N::XNNFloor: return {OpId::floor, [](float x) { return std::floor(x); }};
    case N::XNNSquareRoot: return {OpId::sqrt, [](float x) { return std::sqrt(x); }};
    case N::XNNCeiling: return {OpId::ceil, [](float x) { return std::ceil(x); }};
    case N::XNNHardswish: return {OpId::hard_swish, &xnn_hard_swish};
    case N::XNNNegate: return {OpId::neg, [](float x) { return -x; }};
    case N::XNNSquare: return {OpId::square, [](float x) { return x * x; }};
    case N::XNNAbs: return {OpId::abs, [](float x) { return std::fabs(x); }};
    case N::XNNReciprocalSquareRoot: return {OpId::rsqrt, [](float x) { return 1.0f / std::sqrt(x); }};
    case N::XNNLog: return {OpId::log, [](float x) { return std::log(x); }};
    case N::XNNGelu: return {OpId::gelu, &xnn_gelu};
    case N::XNNTanh: return {OpId::tanh, [](float x) { return std::tanh(x); }};
    case N::XNNExp: return {OpId::exp, [](float x) { return std::exp(x); }};
    case N::XNNSin: return {OpId::sin, [](float x) { return std::sin(x); }};
    default: return {OpId::cos, [](float x) { return std::cos(x); }};
  }
}

// The 256 results of a function of 8-bit numbers.
Value* lookup(XnnOp& o, Value* x, const XnnTensor& from, const XnnTensor& to, const std::function<float(float)>& f) {
  if (x == nullptr || !o.b.ok()) return nullptr;
  const XnnIntRange in = from.dtype == DType::u8 ? XnnIntRange{0, 255} : XnnIntRange{-128, 127}, out = o.quantized_range(to);
  std::vector<uint8_t> table(256);
  const float inverse = 1.0f / to.quant.scale;
  for (int32_t v = in.lo; v <= in.hi; ++v) {
    const float y = f(static_cast<float>(v - from.quant.zero) * from.quant.scale) * inverse;
    table[static_cast<uint8_t>(v)] = static_cast<uint8_t>(ops::clamp_to(int64_t{ops::round_to_s32(y)} + to.quant.zero, out.lo, out.hi));
  }
  Value* t = o.b.graph().add_constant(to.dtype, {256}, ir::Bytes::own(std::move(table)));
  return o.op(OpId::q_lut, {x, t});
}

template <class A>
void import_function(XnnOp& o, uint32_t in, uint32_t out, OpId id, const A& attrs, const std::function<float(float)>& f) {
  const XnnTensor &x = o.tensor(in), &y = o.tensor(out);
  if (x.per_tensor() && y.per_tensor()) return o.set(out, lookup(o, o.raw(in), x, y, f));
  Value* v = o.real(in, o.work_type(out, {in}));
  o.set_real(out, v == nullptr ? nullptr : o.b.op(id, attrs, {v}));
}

}  // namespace

void import_xnn_unary(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  const XnnUnary u = unary_of(o.node.node_type());
  import_function(o, n.input_id(), n.output_id(), u.op, NoAttrs{}, u.of);
}

void import_xnn_leaky_relu(XnnOp& o) {
  const auto& n = o.fields<xfb::LeakyRelu>();
  ops::leaky_relu::Attrs a;
  a.negative_slope = n.negative_slope();
  import_function(o, n.input_id(), n.output_id(), OpId::leaky_relu, a, [&](float x) { return x < 0 ? x * a.negative_slope : x; });
}

void import_xnn_elu(XnnOp& o) {
  const auto& n = o.fields<xfb::Elu>();
  ops::elu::Attrs a;
  a.alpha = n.alpha();
  import_function(o, n.input_id(), n.output_id(), OpId::elu, a, [&](float x) { return x < 0 ? a.alpha * std::expm1(x) : x; });
}

void import_xnn_clamp(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  const XnnTensor &x = o.tensor(n.input_id()), &y = o.tensor(n.output_id());
  if (x.per_tensor() && o.same_quant(x, y)) {
    const XnnIntRange r = o.quantized_range(y);
    return o.set(n.output_id(), o.clip(o.raw(n.input_id()), {static_cast<float>(r.lo), static_cast<float>(r.hi)}));
  }
  if (x.per_tensor() && y.per_tensor()) return o.set(n.output_id(), lookup(o, o.raw(n.input_id()), x, y, [](float v) { return v; }));
  o.set_real(n.output_id(), o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()})));
}

namespace {

Value* binary(XnnOp& o, OpId id, uint32_t out, uint32_t a, uint32_t c) {
  const DType type = o.work_type(out, {a, c});
  Value *x = o.real(a, type), *y = o.real(c, type);
  return o.op(id, {x, y});
}

bool all_per_tensor(const XnnTensor& a, const XnnTensor& b, const XnnTensor& y) {
  return a.per_tensor() && b.per_tensor() && y.per_tensor() && a.dtype == y.dtype && b.dtype == y.dtype;
}

// XNNPACK's sum of quantized numbers: factors of 21 bits, one rounding shift (ties up). q_add's arithmetic with multipliers is the same
// when these are shifted so far to the left that its high products lose nothing.
bool sum_attrs(const XnnTensor& a, const XnnTensor& b, const XnnTensor& y, ops::QuantBinaryAttrs* q) {
  const float p = a.quant.scale / y.quant.scale, r = b.quant.scale / y.quant.scale, most = std::max(p, r);
  if (!(std::min(p, r) >= 0x1p-10f) || !(most < 0x1p8f)) return false;
  const int shift = 20 - std::ilogb(most);
  constexpr int kLeft = 22, kUp = 31 - kLeft;
  const auto factor = [&](float s) { return static_cast<int32_t>(std::lrint(std::ldexp(s, shift))) * (1 << kUp); };
  q->mode = static_cast<uint32_t>(ops::QuantMode::kFixed);
  q->a_zero = a.quant.zero;
  q->b_zero = b.quant.zero;
  q->y_zero = y.quant.zero;
  q->left_shift = kLeft;
  q->a_multiplier = factor(p);
  q->b_multiplier = factor(r);
  q->y_multiplier = 1 << (31 - shift);
  return true;
}

// q_mul's float arithmetic rounds at other places than XNNPACK's, which scales the integer product. There are 65,536 pairs of operands: a
// way to spread the scale over q_mul's three that gives XNNPACK's result for each of them is as good as its own arithmetic.
bool find_mul_scales(float scale, const XnnTensor& a, const XnnTensor& b, const XnnTensor& y, ops::q_mul::Attrs* q) {
  const float root = std::sqrt(scale);
  const float ways[][3] = {{scale, 1, 1},     {1, scale, 1},
                           {1, 1, 1 / scale}, {a.quant.scale, b.quant.scale, y.quant.scale},
                           {root, root, 1},   {scale * 3, 1.0f / 3, 1},
                           {scale / 3, 3, 1}, {1.0f / 3, scale * 3, 1}};
  const int32_t lo = a.dtype == DType::u8 ? 0 : -128, hi = lo + 255;
  for (const auto& w : ways) {
    bool same = true;
    for (int32_t i = lo; i <= hi && same; ++i) {
      const int32_t p = i - a.quant.zero;
      for (int32_t k = lo; k <= hi && same; ++k) {
        const int32_t r = k - b.quant.zero;
        const float theirs = static_cast<float>(p * r) * scale;
        const float ours = static_cast<float>(p) * w[0] * (static_cast<float>(r) * w[1]) / w[2];
        same = ops::clamp_to(int64_t{ops::round_to_s32(theirs)} + y.quant.zero, lo, hi) ==
               ops::clamp_to(int64_t{ops::round_to_s32(ours)} + y.quant.zero, lo, hi);
      }
    }
    if (!same) continue;
    q->mode = 1;
    q->a_scale = w[0];
    q->b_scale = w[1];
    q->y_scale = w[2];
    return true;
  }
  return false;
}

// The integer product, then its scale.
Value* exact_product(XnnOp& o, Value* x, Value* y, const XnnTensor& a, const XnnTensor& b, const XnnTensor& to, float scale) {
  const auto wide = [&](Value* v, const XnnTensor& t) {
    Value* w = o.cast(v, DType::s32);
    return t.quant.zero == 0 ? w : o.sub(w, o.number(t.quant.zero, DType::s32));
  };
  Value *p = wide(x, a), *r = wide(y, b);
  ops::requantize::Attrs q;
  const XnnIntRange range = o.quantized_range(to);
  q.to = static_cast<uint32_t>(to.dtype);
  q.output_zero = to.quant.zero;
  q.clamp_lo = range.lo;
  q.clamp_hi = range.hi;
  Value* product = o.mul(p, r);
  return product == nullptr ? nullptr : o.b.op(OpId::requantize, q, {product, o.number(static_cast<double>(scale), DType::f32)});
}

}  // namespace

void import_xnn_binary(XnnOp& o) {
  const auto& n = o.fields<xfb::Binary>();
  using N = xfb::NodeUnion;
  const N type = o.node.node_type();
  const OpId id = type == N::XNNDiv       ? OpId::div
                  : type == N::XNNMinimum ? OpId::minimum
                  : type == N::XNNMaximum ? OpId::maximum
                                          : OpId::prelu;
  o.set_real(n.output_id(), binary(o, id, n.output_id(), n.input1_id(), n.input2_id()));
}

void import_xnn_add(XnnOp& o) {
  const auto& n = o.fields<xfb::Binary>();
  const bool minus = o.node.node_type() == xfb::NodeUnion::XNNSubtract;
  const XnnTensor &a = o.tensor(n.input1_id()), &b = o.tensor(n.input2_id()), &y = o.tensor(n.output_id());
  ops::QuantBinaryAttrs q;
  if (!all_per_tensor(a, b, y) || !sum_attrs(a, b, y, &q))
    return o.set_real(n.output_id(), binary(o, minus ? OpId::sub : OpId::add, n.output_id(), n.input1_id(), n.input2_id()));
  const XnnIntRange r = o.quantized_range(y);
  q.clamp_lo = r.lo;
  q.clamp_hi = r.hi;
  Value *p = o.raw(n.input1_id()), *s = o.raw(n.input2_id());
  if (o.b.ok()) o.set(n.output_id(), o.b.op(minus ? OpId::q_sub : OpId::q_add, q, {p, s}));
}

void import_xnn_multiply(XnnOp& o) {
  const auto& n = o.fields<xfb::Binary>();
  const XnnTensor &a = o.tensor(n.input1_id()), &b = o.tensor(n.input2_id()), &y = o.tensor(n.output_id());
  if (!all_per_tensor(a, b, y)) return o.set_real(n.output_id(), binary(o, OpId::mul, n.output_id(), n.input1_id(), n.input2_id()));
  Value *p = o.raw(n.input1_id()), *s = o.raw(n.input2_id());
  if (!o.b.ok()) return;
  const float scale = a.quant.scale * b.quant.scale / y.quant.scale;
  ops::q_mul::Attrs q;
  if (o.scope.pair_searches-- <= 0 || !find_mul_scales(scale, a, b, y, &q))
    return o.set(n.output_id(), exact_product(o, p, s, a, b, y, scale));
  const XnnIntRange r = o.quantized_range(y);
  q.a_zero = a.quant.zero;
  q.b_zero = b.quant.zero;
  q.y_zero = y.quant.zero;
  q.clamp_lo = r.lo;
  q.clamp_hi = r.hi;
  o.set(n.output_id(), o.b.op(OpId::q_mul, q, {p, s}));
}

void import_xnn_softmax(XnnOp& o) {
  const auto& n = o.fields<xfb::Unary>();
  Value* x = o.real(n.input_id(), o.work_type(n.output_id(), {n.input_id()}));
  o.set_real(n.output_id(), x == nullptr ? nullptr : o.softmax(x, rank_of(x) - 1));
}

}  // namespace mote::frontends::executorch
