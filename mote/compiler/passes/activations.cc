// Activations that exporters write out are recognised: gelu (by erf and tanh), hard swish and hard sigmoid, silu, mish, softplus.

#include <cmath>

#include "mote/compiler/passes/expression.h"
#include "mote/ops/clip/clip.h"
#include "mote/ops/gelu/gelu.h"
#include "mote/ops/hard_sigmoid/hard_sigmoid.h"
#include "mote/ops/silu/silu.h"
#include "mote/ops/softplus/softplus.h"

namespace mote::passes {
namespace {

constexpr double kHalfRoot = 0.70710678118654752440;   // 1 / sqrt(2)
constexpr double kTanhScale = 0.79788456080286535588;  // sqrt(2 / pi)

// 0.044715 x^3 + x, times sqrt(2 / pi): the argument of the tanh form.
bool is_tanh_argument(Value* v, const Value* x) {
  const Product p = product_of(v);
  // sqrt(2/pi) * (x + 0.044715 x^3)
  if (p.factors.size() == 1 && p.is(kTanhScale)) {
    const Node* sum = made_by(p.factors[0], OpId::add);
    for (size_t side = 0; sum != nullptr && side < 2; ++side) {
      const Product cube = product_of(sum->inputs[1 - side]);
      if (sum->inputs[side] == x && cube.is(0.044715) && cube.factors == std::vector<Value*>(3, const_cast<Value*>(x))) return true;
    }
  }
  // sqrt(2/pi) * x * (1 + 0.044715 x^2)
  Value* other = p.is(kTanhScale) ? p.beside(x) : nullptr;
  const std::optional<Shifted> s = other == nullptr ? std::nullopt : shifted(other);
  if (!s || !near(s->c, 1)) return false;
  const Product square = product_of(s->x);
  return square.is(0.044715) && square.factors == std::vector<Value*>(2, const_cast<Value*>(x));
}

bool clips_to(const Value* v, float lo, float hi) {
  const Node* n = made_by(v, OpId::clip);
  if (n == nullptr || n->inputs.size() != 1) return false;
  const auto a = n->attributes<ops::clip::Attrs>();
  return a.lo == lo && a.hi == hi;
}

// x * g(x), with the factor c: what the whole is.
Value* gated(NodeBuilder& b, const Product& p, Value* x, Value* g) {
  if (p.is(1) && operand_of(g, OpId::sigmoid) != nullptr) {
    const Product inner = product_of(operand_of(g, OpId::sigmoid));
    const bool plain = operand_of(g, OpId::sigmoid) == x;
    if (!plain && (inner.factors.size() != 1 || inner.factors[0] != x)) return nullptr;
    ops::silu::Attrs a;
    a.alpha = plain ? 1 : static_cast<float>(inner.c);
    return b.op(OpId::silu, a, {x});
  }
  if (p.is(1) && operand_of(g, OpId::tanh) != nullptr) {
    const Node* soft = made_by(operand_of(g, OpId::tanh), OpId::softplus);
    const bool mish = soft != nullptr && soft->inputs[0] == x && soft->attributes<ops::softplus::Attrs>().beta == 1;
    return mish ? b.op(OpId::mish, {x}) : nullptr;
  }
  if (const Node* h = p.is(1) ? made_by(g, OpId::hard_sigmoid) : nullptr; h != nullptr && h->inputs[0] == x) {
    const auto a = h->attributes<ops::hard_sigmoid::Attrs>();
    return near(static_cast<double>(a.alpha), 1.0 / 6) && a.beta == 0.5f ? b.op(OpId::hard_swish, {x}) : nullptr;
  }
  if (p.is(1.0 / 6) && clips_to(g, 0, 6)) {
    const std::optional<Shifted> s = shifted(operand_of(g, OpId::clip));
    return s && s->x == x && s->c == 3 ? b.op(OpId::hard_swish, {x}) : nullptr;
  }
  const std::optional<Shifted> s = p.is(0.5) ? shifted(g) : std::nullopt;
  if (!s || s->c != 1) return nullptr;
  ops::gelu::Attrs a;
  if (Value* e = operand_of(s->x, OpId::erf)) return product_of(e).has(kHalfRoot, x) ? b.op(OpId::gelu, a, {x}) : nullptr;
  Value* t = operand_of(s->x, OpId::tanh);
  a.approximate = 1;
  return t != nullptr && is_tanh_argument(t, x) ? b.op(OpId::gelu, a, {x}) : nullptr;
}

bool gate(Graph& graph, Node& n) {
  if (!n.is(OpId::mul) && !n.is(OpId::div)) return false;
  const Product p = product_of(n.outputs[0]);
  if (p.factors.size() != 2 || p.factors[0] == p.factors[1]) return false;
  for (Value* x : p.factors) {
    if (x->kind == ir::ValueKind::kState || x->type != n.outputs[0]->type) continue;
    NodeBuilder b(graph, *n.block, names_between(n, {x}), &n);
    if (replace_by(graph, n, gated(b, p, x, p.beside(x)))) return true;
  }
  return false;
}

// clip(x + 3, 0, 6) / 6 and clip(a * x + b, 0, 1).
bool hard_sigmoid(Graph& graph, Node& n) {
  ops::hard_sigmoid::Attrs a;
  Value* x = nullptr;
  if (n.is(OpId::mul) || n.is(OpId::div)) {
    const Product p = product_of(n.outputs[0]);
    if (p.factors.size() != 1 || !p.is(1.0 / 6) || !clips_to(p.factors[0], 0, 6)) return false;
    const std::optional<Shifted> s = shifted(operand_of(p.factors[0], OpId::clip));
    if (!s || s->c != 3) return false;
    x = s->x;
    a.alpha = 1.0f / 6;
    a.beta = 0.5f;
  } else if (n.is(OpId::clip) && n.inputs.size() == 1 && clips_to(n.outputs[0], 0, 1)) {
    const std::optional<Shifted> s = shifted(n.inputs[0]);
    if (!s || !n.inputs[0]->has_one_use()) return false;
    const Product p = product_of(s->x);
    if (p.factors.size() != 1 || p.factors[0] == s->x) return false;
    x = p.factors[0];
    a.alpha = static_cast<float>(p.c);
    a.beta = static_cast<float>(s->c);
  }
  if (x == nullptr || x->kind == ir::ValueKind::kState || !is_float(*x)) return false;
  NodeBuilder b(graph, *n.block, names_between(n, {x}), &n);
  return replace_by(graph, n, b.op(OpId::hard_sigmoid, a, {x}));
}

// log(exp(x) + 1), log1p(exp(x)).
bool softplus(Graph& graph, Node& n) {
  Value* e = n.is(OpId::log1p) ? n.inputs[0] : nullptr;
  if (n.is(OpId::log)) {
    const std::optional<Shifted> s = shifted(n.inputs[0]);
    if (s && s->c == 1) e = s->x;
  }
  Value* x = e == nullptr ? nullptr : operand_of(e, OpId::exp);
  if (x == nullptr || x->kind == ir::ValueKind::kState) return false;
  NodeBuilder b(graph, *n.block, names_between(n, {x}), &n);
  return replace_by(graph, n, b.op(OpId::softplus, ops::softplus::Attrs{}, {x}));
}

}  // namespace

bool activations(Graph& graph, const PassOptions& options) {
  if (options.exact) return false;
  return each_node(graph, [&](Node& n) { return gate(graph, n) || softplus(graph, n) || hard_sigmoid(graph, n); });
}

}  // namespace mote::passes
