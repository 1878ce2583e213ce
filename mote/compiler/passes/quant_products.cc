// dequantize -> conv or matmul (-> quantize) as q_conv and q_matmul: s32 sums, one f32 factor, round half to even, saturate.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/linear.h"
#include "mote/compiler/passes/quantized.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/common/activation.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::passes {
namespace {

// A product whose operands are quantized.
struct Product {
  Node* node = nullptr;
  Value* x = nullptr;
  Quant xq;
  QuantWeights w;
  double alpha = 1;
  std::vector<double> bias;   // one for each channel; empty: none
  Value* residual = nullptr;  // quantized, of the output's type and shape: added in f32 before the output is quantized
  Quant rq;
};

// Elements one after the other, or the only one when all are equal.
std::vector<double> shortest(std::vector<double> v) {
  if (std::all_of(v.begin(), v.end(), [&](double x) { return x == v[0]; })) v.resize(1);
  return v;
}

bool read_product(Node& n, Product* p) {
  if (!is_linear(n) || n.outputs[0]->type.dtype != DType::f32 || n.input(kResidual) != nullptr || n.input(kScales) != nullptr) return false;
  const Node* dx = dequantized(n.inputs[0]);
  const std::optional<QuantWeights> w = dequantized_weights(n.inputs[1]);
  if (dx == nullptr || !w || !reads_no_state(n)) return false;
  *p = {&n, dx->inputs[0], *quant_of(*dx), *w, 1, {}, nullptr, {}};
  const int rank = n.inputs[1]->type.rank();
  int channel_axis = 0;
  if (n.is(OpId::matmul)) {
    const auto a = n.attributes<ops::matmul::Attrs>();
    channel_axis = a.transpose_b != 0 ? rank - 2 : rank - 1;
    p->alpha = static_cast<double>(a.alpha);
  }
  if ((mask_of(p->xq.type) & ops::kQuant) == 0 || (mask_of(w->values->type.dtype) & ops::kQuant) == 0) return false;
  if (w->scales.size() > 1 && w->axis != channel_axis) return false;
  if (n.input(kBias) == nullptr) return true;
  p->bias = bias_of(n);
  return !p->bias.empty();
}

constexpr double kMostBiasError = 1.0 / 16;  // of a step of the output

// What all quantized products take after x and weights, and the attributes that go with it.
template <class A>
bool make_stage(Graph& graph, const Product& p, const Stage* stage, A* a, std::vector<Value*>* inputs) {
  const std::vector<double> zeros = shortest(p.w.zeros);
  a->input_zero = p.xq.zero;
  a->weight_zero = zeros.size() == 1 ? static_cast<int32_t>(zeros[0]) : 0;
  // 16-bit activations need accumulators of more than 32 bits.
  const bool wide = p.xq.type == DType::s16;
  a->wide = wide ? 1 : 0;
  const double most_bias = wide ? 1e14 : 2147483648.0;
  std::vector<double> factors, bias = p.bias;
  const double xs = static_cast<double>(p.xq.scale);
  for (const double s : p.w.scales) factors.push_back(static_cast<double>(static_cast<float>(xs * s)) * p.alpha);
  for (size_t i = 0; i < bias.size() && stage != nullptr; ++i) {
    const double unit = factors[factors.size() == 1 ? 0 : i], exact = bias[i] / unit;
    bias[i] = std::nearbyint(exact);
    if (!(std::fabs(bias[i]) < most_bias)) return false;
    // A bias between two codes: where accumulators are coarse beside the output (16-bit outputs), rounding it would show.
    if (std::fabs(bias[i] - exact) * unit > kMostBiasError * static_cast<double>(stage->y.scale)) return false;
  }
  if (stage != nullptr) {
    for (double& f : factors) f /= static_cast<double>(stage->y.scale);
    a->output_zero = stage->y.zero;
    a->clamp_lo = stage->clamp.lo;
    a->clamp_hi = stage->clamp.hi;
  }
  a->to = static_cast<uint32_t>(stage != nullptr ? stage->y.type : DType::f32);
  const auto vector = [&](const std::vector<double>& v) { return Dims{static_cast<int32_t>(v.size())}; };
  inputs->resize(8, nullptr);
  if (!bias.empty() && stage == nullptr) (*inputs)[ops::kEpilogueBias] = float_constant(graph, DType::f32, vector(bias), bias);
  if (!bias.empty() && stage != nullptr && wide)
    (*inputs)[ops::kEpilogueBias] = graph.constant<int64_t>(vector(bias), std::vector<int64_t>(bias.begin(), bias.end()));
  if (!bias.empty() && stage != nullptr && !wide)
    (*inputs)[ops::kEpilogueBias] = graph.constant<int32_t>(vector(bias), std::vector<int32_t>(bias.begin(), bias.end()));
  (*inputs)[ops::kEpilogueMultiplier] = float_constant(graph, DType::f32, vector(factors), factors);
  if (zeros.size() > 1)
    (*inputs)[ops::kEpilogueWZero] = graph.constant<int32_t>(vector(zeros), std::vector<int32_t>(zeros.begin(), zeros.end()));
  while (inputs->back() == nullptr) inputs->pop_back();
  return true;
}

// A residual in the unit of the accumulators, with factors of as many bits as fit: the addition is exact, and the result requantized once.
bool add_residual(Graph& graph, const Product& p, ops::q_conv::Attrs* a, std::vector<Value*>* inputs) {
  constexpr double kMost = 1 << 22;  // times 9 bits: half of what fits
  std::vector<double> factors;
  for (const double s : p.w.scales) factors.push_back(static_cast<double>(p.rq.scale) / (static_cast<double>(p.xq.scale) * s * p.alpha));
  const double most = *std::max_element(factors.begin(), factors.end());
  if (!(most > 0) || !(most <= kMost)) return false;
  const int shift = std::min(30, static_cast<int>(std::floor(std::log2(kMost / most))));
  std::vector<int32_t> fixed;
  for (const double f : factors) fixed.push_back(static_cast<int32_t>(std::nearbyint(std::ldexp(f, shift))));
  a->sum_mode = static_cast<uint32_t>(ops::QuantMode::kSums);
  a->sum_b_zero = p.rq.zero;
  a->sum_b_shift = -shift;
  inputs->resize(ops::q_conv::kResidualFactor + 1, nullptr);
  (*inputs)[ops::q_conv::kResidual] = p.residual;
  (*inputs)[ops::q_conv::kResidualFactor] = graph.constant<int32_t>({static_cast<int32_t>(fixed.size())}, fixed);
  return true;
}

template <class Q, class F>
Q window_attributes(const Node& n) {
  const auto f = n.attributes<F>();
  Q q;
  std::copy(f.strides, f.strides + 3, q.strides);
  std::copy(f.dilations, f.dilations + 3, q.dilations);
  std::copy(f.pads_begin, f.pads_begin + 3, q.pads_begin);
  std::copy(f.pads_end, f.pads_end + 3, q.pads_end);
  q.groups = f.groups;
  return q;
}

template <class Q>
Value* build(Graph& graph, NodeBuilder& b, OpId id, const Product& p, const Stage* stage, Q a, Value* x, Value* w) {
  std::vector<Value*> inputs = {x, w};
  if (x == nullptr || w == nullptr || !make_stage(graph, p, stage, &a, &inputs)) return nullptr;
  if constexpr (std::is_same_v<Q, ops::q_conv::Attrs>) {
    if (p.residual != nullptr && !add_residual(graph, p, &a, &inputs)) return nullptr;
  }
  return b.op(id, a, inputs);
}

Value* swapped(NodeBuilder& b, Value* v) {
  Dims perm;
  for (int i = 0; i < v->type.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.transpose(v, perm);
}

// The integer product in front of `at`; null when it is refused.
Value* integer_product(Graph& graph, const Product& p, const Stage* stage, Node& at) {
  const Node& n = *p.node;
  NodeBuilder b(graph, *at.block, stage != nullptr ? stage->name : n.name, &at);
  if (n.is(OpId::conv))
    return build(graph, b, OpId::q_conv, p, stage, window_attributes<ops::q_conv::Attrs, ops::conv::Attrs>(n), p.x, p.w.values);
  if (n.is(OpId::conv_transpose)) {
    auto a = window_attributes<ops::q_conv_transpose::Attrs, ops::conv_transpose::Attrs>(n);
    const auto f = n.attributes<ops::conv_transpose::Attrs>();
    std::copy(f.output_padding, f.output_padding + 3, a.output_padding);
    return build(graph, b, OpId::q_conv_transpose, p, stage, a, p.x, p.w.values);
  }
  const auto f = n.attributes<ops::matmul::Attrs>();
  Value* x = f.transpose_a != 0 ? swapped(b, p.x) : p.x;
  Value* w = f.transpose_b != 0 ? p.w.values : swapped(b, p.w.values);
  return build(graph, b, OpId::q_matmul, p, stage, ops::q_matmul::Attrs{}, x, w);
}

// conv + a quantized tensor of 8 bits, with no quantize between them.
bool read_sum(const Node& add, const Stage& stage, Product* p) {
  if (!add.is(OpId::add) || !is_byte(stage.y.type) || !add.outputs[0]->type.is_static()) return false;
  for (size_t side = 0; side < 2; ++side) {
    Node* conv = absorbable(add.inputs[side], OpId::conv, add);
    const Node* other = dequantized(add.inputs[1 - side]);
    if (conv == nullptr || other == nullptr || activation_of(*conv).kind != 0 || !read_product(*conv, p) || !is_byte(p->xq.type)) continue;
    p->residual = other->inputs[0];
    p->rq = *quant_of(*other);
    const ir::Type &r = p->residual->type, &y = add.outputs[0]->type;
    if (r.dtype == stage.y.type && r.dims == y.dims && add.inputs[side]->type.dims == y.dims) return true;
    *p = {};
  }
  return false;
}

bool with_quantize(Graph& graph, Node& n) {
  std::optional<Stage> stage = stage_of(n);
  Product p;
  if (!stage || (!read_product(*stage->op, &p) && !read_sum(*stage->op, *stage, &p))) return false;
  if (p.residual != nullptr) stage->name = joined_name(p.node->name, stage->name);
  const Activation act = activation_of(*p.node);
  const std::optional<Clamp> own = clamp_of(act.kind, act.a, act.b, stage->y);
  if (!own) return false;
  stage->clamp.lo = std::max(stage->clamp.lo, own->lo);
  stage->clamp.hi = std::min(stage->clamp.hi, own->hi);
  return stage->clamp.lo <= stage->clamp.hi && replace_by(graph, n, integer_product(graph, p, &*stage, n));
}

// A product without a quantize node behind it has f32 results.
bool without_quantize(Graph& graph, Node& n) {
  Product p;
  if (!read_product(n, &p)) return false;
  const Value* y = n.outputs[0];
  if (std::any_of(y->users.begin(), y->users.end(), [](const Node* u) { return u->is(OpId::quantize) && quant_of(*u).has_value(); }))
    return false;
  const Activation act = activation_of(n);
  ops::clip::Attrs clip;
  switch (static_cast<ops::Activation>(act.kind)) {
    case ops::Activation::kNone:
    case ops::Activation::kRelu: break;
    case ops::Activation::kRelu6: clip.lo = 0, clip.hi = 6; break;
    case ops::Activation::kClamp: clip.lo = act.a, clip.hi = act.b; break;
    default: return false;
  }
  Value* made = integer_product(graph, p, nullptr, n);
  if (made == nullptr || act.kind == 0) return replace_by(graph, n, made);
  NodeBuilder b(graph, *n.block, n.name, &n);
  return replace_by(graph, n,
                    act.kind == static_cast<uint32_t>(ops::Activation::kRelu) ? b.op(OpId::relu, {made}) : b.op(OpId::clip, clip, {made}));
}

}  // namespace

bool quant_products(Graph& graph, const PassOptions&) {
  bool changed = each_node(graph, [&](Node& n) { return n.is(OpId::quantize) && with_quantize(graph, n); });
  changed |= each_node(graph, [&](Node& n) { return is_linear(n) && without_quantize(graph, n); });
  return changed;
}

}  // namespace mote::passes
